// Each layout equals what the PyTorch expression in its explanation makes, and is not offered where it does
// not apply.
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_strided.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <random>
#include <set>

#include "layouts/layout.h"
#include "support.h"

namespace opgate::layout_test {
namespace {

using ::testing::ElementsAre;
using Sizes = std::vector<int64_t>;

Sizes with_last(Sizes sizes, const std::function<int64_t(int64_t)>& change) {
  sizes.back() = change(sizes.back());
  return sizes;
}

Sizes last_two_swapped(Sizes sizes) {
  std::swap(sizes[sizes.size() - 1], sizes[sizes.size() - 2]);
  return sizes;
}

at::Tensor expanded(const Sizes& sizes) {
  Sizes one_row = sizes;
  *std::ranges::find_if(one_row, [](int64_t size) { return size > 1; }) = 1;
  return at::empty(one_row).expand(sizes);
}

at::Tensor expanded_last(const Sizes& sizes) {
  Sizes first_column = sizes;
  *std::ranges::find_if(first_column.rbegin(), first_column.rend(), [](int64_t size) { return size > 1; }) =
      1;
  return at::empty(first_column).expand(sizes);
}

at::Tensor channels_last(const Sizes& sizes) {
  const auto format = sizes.size() == 4 ? at::MemoryFormat::ChannelsLast : at::MemoryFormat::ChannelsLast3d;
  return at::empty(sizes, at::TensorOptions().memory_format(format));
}

// Rows along the last dim of more than one element, stepping along the one before it.
at::Tensor windows(const Sizes& sizes) {
  const auto is_long = [](int64_t size) { return size > 1; };
  const auto inner = std::ranges::find_if(sizes.rbegin(), sizes.rend(), is_long);
  const auto outer = std::find_if(std::next(inner), sizes.rend(), is_long);
  const int64_t step = (*inner + 1) / 2;
  Sizes covered = sizes;
  covered[sizes.rend() - outer - 1] = 1;
  covered[sizes.rend() - inner - 1] = (*outer - 1) * step + *inner;
  // unfold() appends a dim for the elements of a window, and counts the windows where the elements were.
  const int64_t inner_dim = sizes.rend() - inner - 1, outer_dim = sizes.rend() - outer - 1;
  const at::Tensor all = at::empty(covered).unfold(inner_dim, *inner, step).select(outer_dim, 0);
  return all.movedim(inner_dim - 1, outer_dim).movedim(-1, inner_dim);
}

at::Tensor one_in(const Sizes& sizes) {
  return at::empty({c10::multiply_integers(sizes) + 1}).slice(0, 1).view(sizes);
}

// The expressions of the explanations as C++ code.
const std::map<std::string, std::function<at::Tensor(const Sizes&)>>& expressions() {
  static const std::map<std::string, std::function<at::Tensor(const Sizes&)>> all{
      {"contiguous", [](const Sizes& s) { return at::empty(s); }},
      {"transposed", [](const Sizes& s) { return at::empty(last_two_swapped(s)).mT(); }},
      {"stepped",
       [](const Sizes& s) {
         return at::empty(with_last(s, [](int64_t n) { return 2 * n; })).slice(-1, 0, std::nullopt, 2);
       }},
      {"row-sliced",
       [](const Sizes& s) {
         return at::empty(with_last(s, [](int64_t n) { return n + 3; })).slice(-1, 1, -2);
       }},
      {"expanded", &expanded},
      {"expanded-last", &expanded_last},
      {"expanded-all", [](const Sizes& s) { return at::empty(Sizes(s.size(), 1)).expand(s); }},
      {"windows", &windows},
      {"channels-last", &channels_last},
      {"offset", &one_in},
      {"conjugated", [](const Sizes& s) { return at::empty(s); }},
      {"negated", [](const Sizes& s) { return at::empty(s); }},
      {"odd-strides",
       [](const Sizes& s) {
         std::vector<int64_t> strides = dense_strides(s);
         for (size_t dim = 0; dim < s.size(); ++dim) {
           if (s[dim] == 1) strides[dim] = 13;
         }
         return at::empty_strided(s, strides);
       }},
      {"0-dim", [](const Sizes&) { return at::empty({}); }},
  };
  return all;
}

void expect_same_geometry(const Geometry& geometry, const at::Tensor& made) {
  EXPECT_EQ(geometry.sizes, made.sizes().vec());
  for (size_t dim = 0; dim < geometry.sizes.size(); ++dim) {
    if (geometry.sizes[dim] < 2) continue;  // such a stride is never used
    EXPECT_EQ(geometry.strides[dim], made.stride(static_cast<int64_t>(dim))) << dim;
  }
  EXPECT_EQ(geometry.offset, made.storage_offset());
  EXPECT_EQ(geometry.elements * static_cast<int64_t>(made.element_size()),
            static_cast<int64_t>(made.storage().nbytes()));
}

std::vector<std::string> names(const Sizes& sizes) {
  std::vector<std::string> found;
  for (const OfferedPlacement& offered : placements(sizes)) found.push_back(offered.placement.name);
  return found;
}

TEST(Layouts, AreWhatTheirPyTorchExpressionMakes) {
  std::set<std::string> seen;
  for (const Sizes& sizes :
       {Sizes{}, {7}, {2, 3}, {1, 5}, {5, 1}, {2, 3, 257}, {1, 3, 4, 4}, {3, 1, 2, 2}, {2, 3, 4, 5, 6}}) {
    for (const auto& [layout, placement] : placements(sizes)) {
      SCOPED_TRACE(placement.name + " of " + index_text(sizes));
      if (layout->name == "empty") continue;  // tested below
      ASSERT_TRUE(expressions().contains(placement.name)) << "a new layout: say here what it should be";
      expect_same_geometry(placement.geometry, expressions().at(placement.name)(sizes));
      seen.insert(placement.name);
    }
  }
  EXPECT_EQ(seen.size(), expressions().size()) << "an expression was compared with nothing";
}

TEST(Layouts, EmptyTakesEachDimInTurn) {
  for (int64_t dim = 0; dim < 3; ++dim) {
    Sizes emptied{2, 3, 4};
    emptied[static_cast<size_t>(dim)] = 0;
    const auto offered = find_placement({2, 3, 4}, "empty-dim" + std::to_string(dim));
    ASSERT_TRUE(offered.has_value());
    EXPECT_EQ(offered->placement.geometry.strides, at::empty(emptied).strides().vec());
    expect_same_geometry(offered->placement.geometry, at::empty(emptied));
  }
  EXPECT_FALSE(find_placement({2, 3, 4}, "empty-dim3").has_value());
}

TEST(Layouts, OfferNothingWhereTheyDoNotApply) {
  EXPECT_THAT(names({}), ElementsAre("contiguous", "conjugated", "negated", "offset"));
  EXPECT_THAT(names({1}), ElementsAre("contiguous", "0-dim", "conjugated", "empty-dim0", "negated",
                                      "odd-strides", "offset"));
  EXPECT_THAT(names({7}), ElementsAre("contiguous", "0-dim", "conjugated", "empty-dim0", "expanded",
                                      "negated", "offset", "stepped"));
  for (const Sizes& sizes : {Sizes{5, 1}, {1, 5}}) EXPECT_FALSE(find_placement(sizes, "transposed")) << sizes;
  EXPECT_FALSE(find_placement({5, 1}, "stepped"));
  EXPECT_FALSE(find_placement({1, 1}, "expanded"));
  EXPECT_FALSE(find_placement({2, 3, 4}, "channels-last"));
  EXPECT_FALSE(find_placement({1, 2, 3, 4, 5, 6}, "channels-last"));
}

TEST(Layouts, AreNotFoundByAnotherName) {
  EXPECT_FALSE(find_placement({2, 3}, "no-such-layout"));
  EXPECT_FALSE(find_placement({2, 3}, ""));
  EXPECT_FALSE(find_placement({2, 3}, "empty"));  // the layout's name, not one of its placements
  EXPECT_TRUE(find_placement({2, 3}, "empty-dim1"));
}

TEST(Layouts, ChangeTheSizesOnlyWhereTheySaySo) {
  for (const auto& [layout, placement] : placements(Sizes{2, 3, 4, 5})) {
    EXPECT_EQ(placement.geometry.sizes == (Sizes{2, 3, 4, 5}), layout->same_sizes) << placement.name;
  }
}

TEST(Layouts, ExplainThemselvesInOneLine) {
  for (const Layout& layout : Registry<Layout>::instance().parts()) {
    EXPECT_GT(layout.explanation.size(), 20u) << layout.name;
    EXPECT_EQ(layout.explanation.find('\n'), std::string_view::npos) << layout.name;
  }
}

TEST(Placements, LieInsideTheirStorageWithAnElementForEachPosition) {
  std::mt19937 random(11);
  size_t looked_at = 0;
  for (int i = 0; i < 500; ++i) {
    Sizes sizes(random() % 6);
    for (int64_t& size : sizes) size = static_cast<int64_t>(random() % 5);
    for (const auto& [layout, placement] : placements(sizes)) {
      const Geometry& given = placement.geometry;
      std::set<int64_t> used;
      for (int64_t linear = 0; linear < given.numel(); ++linear) used.insert(given.storage_element(linear));
      SCOPED_TRACE(placement.name + " of " + index_text(sizes));
      if (used.empty()) continue;
      ASSERT_GE(*used.begin(), 0);
      ASSERT_LT(*used.rbegin(), given.elements);
      ASSERT_EQ(static_cast<int64_t>(used.size()) == given.numel(), !given.overlaps());
      ++looked_at;
    }
  }
  EXPECT_GT(looked_at, 500u);
}

TEST(Placements, HaveNamesOfTheirOwnAndContiguousComesFirst) {
  for (const Sizes& sizes : {Sizes{}, {0}, {1}, {7}, {2, 3}, {2, 3, 4}, {1, 3, 4, 4}, {2, 3, 4, 5, 6}}) {
    const std::vector<std::string> all = names(sizes);
    EXPECT_EQ(all.front(), "contiguous");
    EXPECT_EQ(std::set<std::string>(all.begin(), all.end()).size(), all.size()) << index_text(sizes);
    for (const std::string& name : all) EXPECT_EQ(name.find_first_of("/= "), std::string::npos) << name;
  }
}

}  // namespace
}  // namespace opgate::layout_test
