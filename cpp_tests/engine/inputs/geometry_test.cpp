// Compares strides, storage elements and names of geometries with what torch says about the same tensor.
#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "layouts/geometry.h"
#include "support.h"

namespace opgate::geometry_test {
namespace {

using testing::counted;

std::vector<int64_t> random_sizes(std::mt19937& random, int64_t least) {
  std::vector<int64_t> sizes(random() % 6);
  for (int64_t& size : sizes) size = least + static_cast<int64_t>(random() % 5);
  return sizes;
}

// Two rows of two elements, with one element before and two after each row: x[..., 1:-2] of a [2, 5]
// tensor.
Geometry sliced_rows() { return geometry({2, 2}, {5, 1}, 1, 2); }

TEST(DenseStrides, AreThoseOfANewTensor) {
  std::mt19937 random(1);
  for (int i = 0; i < 500; ++i) {
    const std::vector<int64_t> sizes = random_sizes(random, 0);
    EXPECT_EQ(dense_strides(sizes), at::empty(sizes).strides().vec()) << index_text(sizes);
  }
}

TEST(Geometry, EndsWithItsLastElementAndItsTail) {
  EXPECT_EQ(geometry({2, 3}, {3, 1}).elements, 6);
  EXPECT_EQ(geometry({2, 3}, {6, 2}).elements, 11);
  EXPECT_EQ(geometry({2, 3}, {6, 2}, 0, 1).elements, 12);
  EXPECT_EQ(geometry({2, 3}, {3, 1}, 4).elements, 10);
  EXPECT_EQ(geometry({5, 3}, {0, 1}).elements, 3);
  EXPECT_EQ(geometry({}, {}).elements, 1);
}

TEST(Geometry, HasNoElementsWhereASizeIsZero) {
  EXPECT_EQ(geometry({0, 3}, {3, 1}).elements, 0);
  EXPECT_EQ(geometry({4, 0}, {7, 1}, 2, 1).elements, 3);  // the offset and the tail count, too
  EXPECT_EQ(geometry({4, 0}, {7, 1}).numel(), 0);
}

TEST(Geometry, FindsTheStorageElementOfEachPosition) {
  std::mt19937 random(2);
  for (int i = 0; i < 200; ++i) {
    const std::vector<int64_t> sizes = random_sizes(random, 1);
    std::vector<int64_t> strides(sizes.size());
    for (int64_t& stride : strides) stride = static_cast<int64_t>(random() % 7);
    const Geometry given = geometry(sizes, strides, static_cast<int64_t>(random() % 4));
    const at::Tensor seen = counted({given.elements}, c10::kLong)
                                .as_strided(given.sizes, given.strides, given.offset)
                                .contiguous();
    for (int64_t linear = 0; linear < given.numel(); ++linear) {
      ASSERT_EQ(given.storage_element(linear), seen.const_data_ptr<int64_t>()[linear]) << index_text(sizes);
    }
  }
}

TEST(Geometry, OverlapsOnlyAlongStrideZeroOfSeveral) {
  EXPECT_TRUE(geometry({2, 3}, {0, 1}).overlaps());
  EXPECT_TRUE(geometry({2, 3}, {1, 0}).overlaps());
  EXPECT_FALSE(geometry({1, 3}, {0, 1}).overlaps());  // there is only one row
  EXPECT_FALSE(geometry({0, 3}, {0, 1}).overlaps());
  EXPECT_FALSE(geometry({2, 3}, {3, 1}).overlaps());
  EXPECT_FALSE(geometry({}, {}).overlaps());
}

TEST(Geometry, IsContiguousWhereTorchSaysSoAndNothingLiesBefore) {
  std::mt19937 random(3);
  int contiguous = 0;
  for (int i = 0; i < 2000; ++i) {
    const std::vector<int64_t> sizes = random_sizes(random, 1);
    std::vector<int64_t> strides = dense_strides(sizes);
    if (!strides.empty() && random() % 2 == 0) strides[random() % strides.size()] += 1;
    const Geometry given = geometry(sizes, strides);
    const bool expected = at::empty({given.elements}).as_strided(sizes, strides).is_contiguous();
    EXPECT_EQ(given.is_contiguous(), expected) << index_text(sizes) << index_text(strides);
    EXPECT_FALSE(geometry(sizes, strides, 1).is_contiguous());
    contiguous += expected ? 1 : 0;
  }
  EXPECT_GT(contiguous, 500);  // both answers occurred
  EXPECT_LT(contiguous, 1900);
}

TEST(Unravel, CountsThroughAllIndicesInRowMajorOrder) {
  const std::vector<int64_t> sizes{2, 1, 3};
  std::vector<std::vector<int64_t>> indices;
  for (int64_t i = 0; i < 6; ++i) indices.push_back(unravel(i, sizes));
  EXPECT_EQ(indices, (std::vector<std::vector<int64_t>>{
                         {0, 0, 0}, {0, 0, 1}, {0, 0, 2}, {1, 0, 0}, {1, 0, 1}, {1, 0, 2}}));
  EXPECT_EQ(unravel(0, {}), std::vector<int64_t>{});
}

TEST(IndexText, IsWhatPythonWouldPrint) {
  EXPECT_EQ(index_text({0, 0, 1}), "[0, 0, 1]");
  EXPECT_EQ(index_text({7}), "[7]");
  EXPECT_EQ(index_text({}), "[]");
}

TEST(DescribeElement, NamesTheElementThatLiesThere) {
  EXPECT_EQ(describe_element(sliced_rows(), 1, "x"), "x[0, 0]");
  EXPECT_EQ(describe_element(sliced_rows(), 2, "x"), "x[0, 1]");
  EXPECT_EQ(describe_element(sliced_rows(), 7, "other"), "other[1, 1]");
}

TEST(DescribeElement, NamesTheGapByTheElementBeforeIt) {
  EXPECT_EQ(describe_element(sliced_rows(), 3, "x"), "the gap after x[0, 1]");
  EXPECT_EQ(describe_element(sliced_rows(), 5, "x"), "the gap after x[0, 1]");
  EXPECT_EQ(describe_element(sliced_rows(), 9, "x"), "the gap after x[1, 1]");
  EXPECT_EQ(describe_element(geometry({2, 2}, {4, 2}, 0, 1), 1, "x"), "the gap after x[0, 0]");
}

TEST(DescribeElement, GoesByTheOrderInMemoryAndNotByTheIndex) {
  const Geometry transposed = geometry({2, 3}, {1, 4});  // columns of two, each followed by a gap of two
  EXPECT_EQ(describe_element(transposed, 2, "x"), "the gap after x[1, 0]");
  EXPECT_EQ(describe_element(transposed, 4, "x"), "x[0, 1]");
}

TEST(DescribeElement, SaysHowFarOutsideTheStorageItLies) {
  EXPECT_EQ(describe_element(sliced_rows(), 0, "x"), "the gap before x's first element");
  EXPECT_EQ(describe_element(sliced_rows(), -2, "x"), "2 elements before the storage of x");
  EXPECT_EQ(describe_element(sliced_rows(), 10, "x"), "1 elements past the end of the storage of x");
  EXPECT_EQ(describe_element(sliced_rows(), 14, "x"), "5 elements past the end of the storage of x");
}

TEST(DescribeElement, NamesTheFirstOfSeveralPositionsThatShareIt) {
  EXPECT_EQ(describe_element(geometry({2, 3}, {0, 1}), 1, "x"), "x[0, 1]");
}

}  // namespace
}  // namespace opgate::geometry_test
