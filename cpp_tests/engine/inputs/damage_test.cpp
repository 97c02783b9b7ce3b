// The text of a bad input's variant, and what it says.
#include "inputs/damage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "inputs/bad_inputs.h"
#include "inputs/variant.h"
#include "spec/spec.h"
#include "support.h"

namespace opgate::damage_test {
namespace {

using Kind = InputDamage::Kind;
using Place = InputDamage::Place;
using testing::spec_of;

struct Known {
  std::string variant;
  InputDamage damage;
  std::string words;
};

std::vector<Known> known() {
  return {
      {"bad:w.rank+1", {Kind::more_dims, "w"}, "`w` has one dim more"},
      {"bad:xs[0].rank-1", {Kind::fewer_dims, "xs[0]"}, "`xs[0]` has one dim less"},
      {"bad:w.size1+1", {.kind = Kind::longer, .argument = "w", .dim = 1}, "dim 1 of `w` is longer by one"},
      {"bad:w.size12-1",
       {.kind = Kind::shorter, .argument = "w", .dim = 12},
       "dim 12 of `w` is shorter by one"},
      {"bad:w.size0=0", {Kind::no_rows, "w"}, "dim 0 of `w` is empty"},
      {"bad:w.undefined", {Kind::undefined, "w"}, "`w` is an undefined tensor"},
      {"bad:w.device=cpu", {Kind::device, "w", "cpu"}, "`w` is on the cpu among tensors on another device"},
      {"bad:w.dtype=float64", {Kind::dtype, "w", "float64"}, "`w` is float64"},
      {"bad:i.value=-1", {Kind::element, "i", "-1"}, "one element of `i` is -1"},
      {"bad:x.first=nan",
       {.kind = Kind::element, .argument = "x", .value = "nan", .place = Place::first},
       "the first element of `x` is nan"},
      {"bad:x.last=nan",
       {.kind = Kind::element, .argument = "x", .value = "nan", .place = Place::last},
       "the last element of `x` is nan"},
      {"bad:x.at17=subnormal",
       {.kind = Kind::element, .argument = "x", .value = "subnormal", .at = 17},
       "element 17 of `x` is subnormal"},
      {"bad:i.group=none-in-last",
       {.kind = Kind::group, .argument = "i", .place = Place::last},
       "nothing belongs to the last group of `i`"},
      {"bad:k.empty", {Kind::no_entries, "k"}, "`k` is an empty list"},
      {"bad:k.longer", {Kind::more_entries, "k"}, "`k` has one entry more"},
      {"bad:k.shorter", {Kind::fewer_entries, "k"}, "`k` has one entry less"},
      {"bad:k[1]=2^62", {Kind::value, "k[1]", "2^62"}, "`k[1]` is 2^62"},
      {"bad:eps=nan", {Kind::value, "eps", "nan"}, "`eps` is nan"},
      // A word may hold what separates the parts of other texts.
      {"bad:mode=a=b.rank+1", {Kind::value, "mode", "a=b.rank+1"}, "`mode` is a=b.rank+1"},
  };
}

TEST(InputDamage, IsReadFromTheTextThatItMakes) {
  for (const auto& [variant, damage, words] : known()) {
    EXPECT_EQ(variant_of(damage), variant);
    EXPECT_EQ(damage_of(variant), damage) << variant;
    EXPECT_EQ(in_words(damage), words);
    EXPECT_EQ(describe_variant(variant), words);
  }
}

TEST(InputDamage, IsNotReadFromOtherTexts) {
  for (const char* text : {"contiguous", "x=stepped", "size8=0", "x+y=same", "bad:", "bad:x", "bad:x.rank+2",
                           "bad:x.size+1", "bad:x.size1x+1", "bad:x.size1", "bad:x.at=nan", "bad:x.at1b=nan",
                           "bad:x.group=first", "bad:x.group=none-in-second", "bad:x.other=1"}) {
    EXPECT_EQ(damage_of(text), std::nullopt) << text;
    EXPECT_EQ(damaged_argument(text), "") << text;
  }
}

TEST(InputDamage, NamesTheArgumentWithoutItsEntry) {
  EXPECT_EQ(damaged_argument("bad:xs[0].rank+1"), "xs");
  EXPECT_EQ(damaged_argument("bad:k[1]=0"), "k");
  EXPECT_EQ(damaged_argument("bad:eps=nan"), "eps");
}

TEST(InputDamage, OfEveryBadInputOfASampleIsReadFromItsText) {
  const Spec spec = spec_of("aten::index_select", {{uniform({4, 8}), 0, indices({3}, 4)}});
  const std::vector<BadInput> all = bad_inputs(spec, spec.samples.front());
  EXPECT_GT(all.size(), 20u);
  for (const BadInput& bad : all) EXPECT_EQ(damage_of(variant_of(bad.damage)), bad.damage);
}

}  // namespace
}  // namespace opgate::damage_test
