// The arguments of a call have the same values in every layout, and a known byte in every gap.
#include <ATen/ops/full.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "base/dtypes.h"
#include "inputs/arguments.h"
#include "inputs/element_at.h"
#include "layouts/layout.h"
#include "spec/spec.h"
#include "support.h"
#include "values/domain.h"

namespace opgate::arguments_test {
namespace {

using testing::same_bits;
using testing::spec_of;

const Spec& relu() {
  static const Spec spec = spec_of("aten::relu", {{uniform({2, 3, 4, 6})}, {uniform({7})}});
  return spec;
}

const Spec& add() {
  static const Spec spec = spec_of("aten::add.Tensor", {{uniform({4, 6}), uniform({4, 6}).of(c10::kInt), 2}});
  return spec;
}

CallKey key_of(const Spec& spec, std::string layout, c10::ScalarType dtype = c10::kFloat, size_t sample = 0) {
  return {&spec, &spec.samples[sample], dtype, c10::kCPU, std::move(layout)};
}

at::Tensor made(const Spec& spec, const std::string& layout, bool contiguous = false) {
  ValueCache cache;
  return materialize(key_of(spec, layout), cache, {.contiguous = contiguous}).tensors.front().tensor;
}

std::vector<OfferedPlacement> rearranged(c10::IntArrayRef sizes) {
  std::vector<OfferedPlacement> found;
  for (const OfferedPlacement& offered : placements(sizes)) {
    if (offered.layout->same_sizes && offered.placement.name != kContiguous) found.push_back(offered);
  }
  return found;
}

// Whether `laid` shows, at each position, the value that belongs to this position or to another one with
// the same storage element: along a dim of stride 0 that of the first slice.
bool shows(const at::Tensor& laid, at::Tensor values, const Geometry& geometry) {
  for (size_t dim = 0; dim < geometry.sizes.size(); ++dim) {
    if (geometry.strides[dim] == 0) values = values.slice(static_cast<int64_t>(dim), 0, 1);
  }
  values = values.expand(geometry.sizes);
  if (same_bits(laid, values)) return true;
  std::map<int64_t, std::vector<int64_t>> positions;  // by storage element
  for (int64_t linear = 0; linear < geometry.numel(); ++linear)
    positions[geometry.storage_element(linear)].push_back(linear);
  const at::Tensor dense = laid.contiguous(), wanted = values.contiguous();
  const auto element = [](const at::Tensor& tensor, int64_t linear) {
    const size_t bytes = tensor.element_size();
    const auto* const first = static_cast<const char*>(tensor.const_data_ptr());
    return std::string_view(first + static_cast<size_t>(linear) * bytes, bytes);
  };
  return std::ranges::all_of(positions, [&](const auto& shared) {
    const std::string_view shown = element(dense, shared.second.front());
    return std::ranges::all_of(shared.second, [&](int64_t at) { return element(dense, at) == shown; }) &&
           std::ranges::any_of(shared.second, [&](int64_t at) { return element(wanted, at) == shown; });
  });
}

TEST(ElementAt, NamesTheArgumentAndItsElement) {
  ValueCache cache;
  const Arguments arguments = materialize(key_of(add(), std::string(kContiguous)), cache, {});
  const auto address_in = [&](size_t input, size_t byte) {
    return reinterpret_cast<std::uint64_t>(arguments.tensors[input].tensor.const_data_ptr()) + byte;
  };
  EXPECT_EQ(element_at(arguments, address_in(0, 4 * 7)), "self[1, 1]");
  EXPECT_EQ(element_at(arguments, address_in(1, 3)), "other[0, 0]");
  EXPECT_EQ(element_at(arguments, address_in(1, size_t{4} * 4 * 6)), std::nullopt);
}

TEST(LayOut, KeepsTheValuesOfEveryDtypeInEveryLayout) {
  const std::vector<int64_t> sizes{2, 3, 4, 6};
  for (const c10::ScalarType dtype : every_dtype()) {
    const at::Tensor values = make_values({"uniform", {}}, 3, sizes, dtype);
    for (const auto& [layout, placement] : rearranged(sizes)) {
      if (layout->accepts_dtype != nullptr && !layout->accepts_dtype(dtype)) continue;
      const at::Tensor laid = lay_out(values, placement.geometry, c10::kCPU, placement.view);
      EXPECT_EQ(laid.is_conj(), placement.view == View::conjugated);
      EXPECT_EQ(laid.is_neg(), placement.view == View::negated);
      EXPECT_TRUE(shows(laid, values, placement.geometry)) << placement.name << " of " << dtype_name(dtype);
      EXPECT_EQ(laid.strides(), c10::IntArrayRef(placement.geometry.strides)) << placement.name;
    }
  }
}

TEST(LayOut, FillsEveryGapAndNothingElseWithTheGapByte) {
  const std::vector<int64_t> sizes{3, 5};
  const at::Tensor values = at::full(sizes, 1.0f);  // no byte of 1.0f is a gap byte
  int64_t gaps = 0;
  for (const auto& [layout, placement] : placements(sizes)) {
    const Geometry& geometry = placement.geometry;
    if (geometry.sizes != sizes) continue;
    const StorageSnapshot image = storage_snapshot(lay_out(values, geometry, c10::kCPU));
    ASSERT_EQ(image.size(), static_cast<size_t>(geometry.elements) * sizeof(float)) << placement.name;
    std::set<int64_t> used;
    for (int64_t i = 0; i < geometry.numel(); ++i) used.insert(geometry.storage_element(i));
    for (size_t byte = 0; byte < image.size(); ++byte) {
      const bool in_gap = !used.contains(static_cast<int64_t>(byte / sizeof(float)));
      ASSERT_EQ(image[byte] == kGapByte, in_gap) << placement.name << ", byte " << byte;
      gaps += in_gap ? 1 : 0;
    }
  }
  EXPECT_GT(gaps, 0);
}

TEST(LayOut, LeavesTheGapsOfAnEmptyTensorToo) {
  const at::Tensor laid = lay_out(at::full({0, 4}, 1.0f), geometry({0, 4}, {8, 2}, 0, 1), c10::kCPU);
  EXPECT_EQ(storage_snapshot(laid), StorageSnapshot(sizeof(float), kGapByte));
}

TEST(Materialise, GivesTheContiguousValuesInEveryLayout) {
  const at::Tensor contiguous = made(relu(), "contiguous");
  for (const auto& [layout, placement] : rearranged(contiguous.sizes())) {
    if (layout->accepts_dtype != nullptr && !layout->accepts_dtype(c10::kFloat)) continue;
    const at::Tensor laid = made(relu(), "self=" + placement.name);
    EXPECT_EQ(same_bits(laid, contiguous), !placement.geometry.overlaps()) << placement.name;
    EXPECT_TRUE(shows(laid, contiguous, placement.geometry)) << placement.name;
  }
}

TEST(Materialise, LaysOutOnlyTheArgumentThatTheCaseNames) {
  ValueCache cache;
  const Arguments arguments = materialize(key_of(add(), "other=stepped"), cache);
  ASSERT_EQ(arguments.tensors.size(), 2u);
  EXPECT_EQ(arguments.tensors[0].name, "self");
  EXPECT_TRUE(arguments.tensors[0].tensor.is_contiguous());
  EXPECT_EQ(arguments.tensors[1].name, "other");
  EXPECT_EQ(arguments.tensors[1].tensor.stride(-1), 2);
}

TEST(Materialise, KeepsFixedDtypesAndOtherArguments) {
  ValueCache cache;
  const Arguments arguments = materialize(key_of(add(), "contiguous", c10::kHalf), cache);
  EXPECT_EQ(arguments.tensors[0].tensor.scalar_type(), c10::kHalf);
  EXPECT_EQ(arguments.tensors[1].tensor.scalar_type(), c10::kInt);
  ASSERT_EQ(arguments.stack.size(), 3u);
  EXPECT_TRUE(arguments.stack[0].toTensor().is_same(arguments.tensors[0].tensor));
  EXPECT_EQ(arguments.stack[2].toInt(), 2);
}

TEST(Materialise, GivesEachTensorAStorageAndAStreamOfItsOwn) {
  const Spec twice = spec_of("aten::mul.Tensor", {{uniform({4, 6}), uniform({4, 6})}});
  ValueCache cache;
  const Arguments first = materialize(key_of(twice, "contiguous"), cache);
  const Arguments second = materialize(key_of(twice, "contiguous"), cache);
  const auto storage = [](const at::Tensor& tensor) { return tensor.storage().unsafeGetStorageImpl(); };
  EXPECT_NE(storage(first.tensors[0].tensor), storage(first.tensors[1].tensor));
  EXPECT_NE(storage(first.tensors[0].tensor), storage(second.tensors[0].tensor));
  EXPECT_FALSE(same_bits(first.tensors[0].tensor, first.tensors[1].tensor));
}

TEST(Materialise, GivesUnspoiltValuesAfterACallWroteToItsArguments) {
  ValueCache cache;
  const Arguments first = materialize(key_of(relu(), "contiguous"), cache);
  const at::Tensor before = first.tensors[0].tensor.clone();
  first.tensors[0].tensor.fill_(9);
  EXPECT_TRUE(same_bits(materialize(key_of(relu(), "contiguous"), cache).tensors[0].tensor, before));
}

TEST(Materialise, PhotographsTheWholeStorageBeforeTheCall) {
  for (const char* layout :
       {"contiguous", "self=row-sliced", "self=expanded", "self=empty-dim1", "self=0-dim"}) {
    ValueCache cache;
    const TensorInput input = materialize(key_of(relu(), layout), cache).tensors.front();
    EXPECT_EQ(input.before, storage_snapshot(input.tensor)) << layout;
    EXPECT_EQ(input.before.size(), static_cast<size_t>(input.geometry.elements) * 4) << layout;
    if (input.before.empty()) continue;
    input.tensor.fill_(9);
    EXPECT_NE(input.before, storage_snapshot(input.tensor)) << layout << ": a picture, not a view";
  }
}

TEST(Materialise, LaysTheSameValuesOutContiguouslyWhenAsked) {
  for (const auto& [layout, placement] : placements(relu().samples[0].arguments[0].tensor()->shape)) {
    if (layout->accepts_dtype != nullptr && !layout->accepts_dtype(c10::kFloat)) continue;
    const std::string text = placement.name == kContiguous ? "contiguous" : "self=" + placement.name;
    const at::Tensor dense = made(relu(), text, true);
    EXPECT_TRUE(dense.is_contiguous() && dense.storage_offset() == 0) << text;
    EXPECT_EQ(dense.storage().nbytes(), dense.nbytes()) << text;
    EXPECT_TRUE(same_bits(dense, made(relu(), text))) << text;
  }
}

TEST(Materialise, NamesTheSampleThatIsTooBigForMemory) {
  Spec spec = testing::spec_of("aten::relu", {{uniform({int64_t{1} << 40, 1 << 15})}});
  spec.samples[0].where = "my_spec.cpp:9";
  ValueCache cache;
  EXPECT_THAT(
      testing::message_of<SpecError>([&] { materialize(key_of(spec, "contiguous"), cache); }),
      ::testing::AllOf(::testing::HasSubstr("my_spec.cpp:9"), ::testing::HasSubstr("cannot be made")));
}

TEST(Materialise, RefusesALayoutThatIsNotOffered) {
  ValueCache cache;
  EXPECT_THROW(materialize(key_of(relu(), "self=transposed", c10::kFloat, 1), cache), SetupError);
}

TEST(KeepsValues, IsTrueWhereOnlyStridesAndOffsetDiffer) {
  const std::set<std::string> changing{"self=expanded",   "self=expanded-all", "self=expanded-last",
                                       "self=windows",    "self=0-dim",        "self=empty-dim0",
                                       "self=empty-dim1", "self=empty-dim2",   "self=empty-dim3"};
  std::set<std::string> found;
  for (const auto& [layout, placement] : placements(relu().samples[0].arguments[0].tensor()->shape)) {
    if (layout->accepts_dtype != nullptr && !layout->accepts_dtype(c10::kFloat)) continue;
    const std::string text = placement.name == kContiguous ? "contiguous" : "self=" + placement.name;
    if (!keeps_values(key_of(relu(), text))) found.insert(text);
  }
  EXPECT_EQ(found, changing);
}

}  // namespace
}  // namespace opgate::arguments_test
