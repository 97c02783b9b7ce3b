// The plan has every case that the scopes require, none twice, and no filter silently selects nothing.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <opgate/error.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>

#include "base/dtypes.h"
#include "judging/all_checks.h"
#include "layouts/layout.h"
#include "plan/case_set.h"
#include "plan/plan.h"
#include "spec/spec.h"
#include "support.h"

namespace opgate::plan_test {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::IsSubsetOf;
using testing::message_of;
using ::testing::Not;
using testing::spec_of;

const std::vector<Check>& checks() {
  static const std::vector<Check> all = native_checks();
  return all;
}

const std::vector<Spec>& specs() {
  static const std::vector<Spec> all = [] {
    std::vector<Spec> list{spec_of("aten::relu", {{uniform({4, 8})}, {uniform({2, 3})}}),
                           spec_of("aten::add.Tensor", {{uniform({4, 8}), uniform({4, 8})}})};
    SpecWriter(list[0]).dtypes(c10::kCUDA, {c10::kHalf});
    return list;
  }();
  return all;
}

std::vector<std::string> case_ids(const Filter& filter = {}) {
  std::vector<std::string> ids;
  for (const PlannedCall& call : make_plan(specs(), checks(), filter).calls) {
    for (const Check* check : call.checks) ids.push_back(case_id(call, *check));
  }
  return ids;
}

// The layouts that one check is planned for on the first sample of relu, without "self=".
std::set<std::string> layouts_of(const std::string& check, const std::string& op = "relu") {
  std::set<std::string> layouts;
  for (const PlannedCall& call : make_plan(specs(), checks(), {{op}, {check}, {"cpu"}, {"*/4x8/*"}}).calls) {
    const auto equals = call.key.variant.find('=');
    layouts.insert(equals == std::string::npos ? call.key.variant : call.key.variant.substr(equals + 1));
  }
  return layouts;
}

// The placements of that sample by layouts that keep its sizes, or by those that do not.
std::set<std::string> offered(bool same_sizes) {
  std::set<std::string> names;
  for (const auto& [layout, placement] : placements({4, 8})) {
    const bool accepted = layout->accepts_dtype == nullptr || layout->accepts_dtype(c10::kFloat);
    if (layout->same_sizes == same_sizes && accepted) names.insert(placement.name);
  }
  return names;
}

std::string refusal(const Filter& filter) {
  return message_of<SetupError>([&] { make_plan(specs(), checks(), filter); });
}

TEST(Plan, IsSortedByOperatorThenDeviceThenSampleAndHasNoCaseTwice) {
  const Plan plan = make_plan(specs(), checks());
  using Place = std::tuple<std::string, c10::DeviceType, const Sample*>;
  std::vector<Place> places;
  for (const PlannedCall& call : plan.calls)
    places.emplace_back(call.key.spec->id, call.key.device, call.key.sample);
  EXPECT_TRUE(std::ranges::is_sorted(places));  // addresses, because a spec's samples are in one array
  const std::vector<std::string> ids = case_ids();
  EXPECT_EQ(std::set<std::string>(ids.begin(), ids.end()).size(), ids.size());
  EXPECT_EQ(plan.cases(), ids.size());
  EXPECT_GT(plan.cases(), 200u);
}

TEST(Plan, MakesKeysAndIdsFromPositions) {
  const Plan plan = make_plan(specs(), checks());
  size_t cases = 0;
  for (Calls::Position position = 0; position < plan.calls.size(); ++position) {
    const PlannedCall call = plan.calls[position];
    EXPECT_EQ(call.id, call_id(plan.calls.key(position)));
    EXPECT_EQ(&plan.calls.spec(position), call.key.spec);
    EXPECT_EQ(plan.calls.device(position), call.key.device);
    EXPECT_EQ(plan.calls.first_case(position), cases);
    cases += call.checks.size();
  }
  EXPECT_EQ(cases, plan.cases());
}

TEST(Plan, HasADigestOfItsCasesAndOfNothingElse) {
  const std::string digest = make_plan(specs(), checks()).digest();
  std::vector<Spec> reversed(specs().rbegin(), specs().rend());
  EXPECT_EQ(make_plan(reversed, checks()).digest(), digest);
  EXPECT_EQ(digest.size(), 40u);
  std::vector<Spec> renamed = specs();
  renamed[0].samples[1].name = "other";
  EXPECT_NE(make_plan(renamed, checks()).digest(), digest);
  std::vector<Check> fewer = checks();
  fewer.erase(fewer.begin());
  EXPECT_NE(make_plan(specs(), fewer).digest(), digest);
}

TEST(Plan, TakesUndeclaredDtypesForValueDtypeOnTheFirstSampleOnly) {
  std::set<std::string> seen;
  for (const PlannedCall& call : make_plan(specs(), checks()).calls) {
    const Dtypes& declared = call.key.spec->dtypes.at(call.key.device);
    if (std::ranges::find(declared, call.key.dtype) != declared.end()) continue;
    ASSERT_EQ(call.checks.size(), 1u) << call.id;
    EXPECT_EQ(call.checks[0]->name, "value.dtype");
    EXPECT_EQ(call.key.sample, &call.key.spec->samples.front()) << call.id;
    EXPECT_EQ(call.key.variant, "contiguous") << call.id;
    seen.insert(call.key.spec->id + device_name(call.key.device) + std::to_string(int(call.key.dtype)));
  }
  const size_t every = every_dtype().size();
  EXPECT_EQ(seen.size(), 2 * (every - floating().size()) + (every - 1));
}

// A sample of negative numbers cannot be made in unsigned dtypes; it would be called a broken spec.
TEST(Plan, UndeclaredDtypesThatCannotHoldTheValuesAreLeftOut) {
  const std::vector<Spec> specs{spec_of("aten::neg", {{uniform({4}, -2, -1)}}, {c10::kFloat})};
  std::set<c10::ScalarType> seen;
  for (const PlannedCall& call : make_plan(specs, checks()).calls) seen.insert(call.key.dtype);
  EXPECT_TRUE(seen.contains(c10::kChar));
  EXPECT_FALSE(seen.contains(c10::kByte));
}

TEST(Plan, TakesNoUndeclaredDtypeWhereTheSpecFixesAll) {
  const std::vector<Spec> bincount{spec_of("aten::bincount", {{indices({4}, 5)}}, {c10::kLong})};
  for (const PlannedCall& call : make_plan(bincount, checks()).calls) EXPECT_EQ(call.key.dtype, c10::kLong);
}

TEST(Plan, PlansEachCheckForTheLayoutsOfItsScope) {
  const std::set<std::string> same_sizes = offered(true), resized = offered(false);
  ASSERT_TRUE(same_sizes.contains("contiguous") && same_sizes.contains("stepped"));
  ASSERT_TRUE(resized.contains("empty-dim0") && resized.contains("0-dim"));
  std::set<std::string> rearranged = same_sizes, every = same_sizes;
  rearranged.erase("contiguous");
  every.insert(resized.begin(), resized.end());
  EXPECT_EQ(layouts_of("value.dtype"), (std::set<std::string>{"contiguous"}));
  EXPECT_EQ(layouts_of("value.reference"), (std::set<std::string>{"contiguous"}));
  EXPECT_EQ(layouts_of("value.empty"), resized);
  EXPECT_EQ(layouts_of("value.layout"), rearranged);
  EXPECT_EQ(layouts_of("aoti.cpp"), (std::set<std::string>{"contiguous", "stepped", "transposed"}));
  EXPECT_EQ(layouts_of("effect.alias"), every);
}

TEST(Plan, PlansCostlyChecksForEachLayoutAndEachDtypeOfTheFirstSampleButNotForTheirPairs) {
  const Filter relu{{"relu"}, {}, {"cpu"}, {}};
  const auto planned = [&](std::string_view dtype, std::string_view layout, std::string_view check) {
    return std::ranges::count(case_ids(relu), fmt::format("relu/{}/4x8/{}/cpu/{}", dtype, layout, check));
  };
  const Dtypes declared = specs()[0].dtypes.at(c10::kCPU);
  ASSERT_GE(declared.size(), 2u);
  const std::string_view first = dtype_name(declared[0]), second = dtype_name(declared[1]);
  EXPECT_EQ(planned(first, "contiguous", "aoti.cpp"), 1);
  EXPECT_EQ(planned(first, "self=transposed", "aoti.cpp"), 1);
  EXPECT_EQ(planned(second, "contiguous", "aoti.cpp"), 1);
  EXPECT_EQ(planned(second, "self=transposed", "aoti.cpp"), 0);
  EXPECT_EQ(planned(second, "self=transposed", "value.layout"), 1);
  const std::vector<std::string> ids = case_ids(relu);
  EXPECT_THAT(ids, Contains(fmt::format("relu/{}/2x3/contiguous/cpu/aoti.cpp", first)));
  EXPECT_THAT(ids, Not(Contains(fmt::format("relu/{}/2x3/contiguous/cpu/aoti.cpp", second))));
  EXPECT_THAT(ids, Not(Contains(fmt::format("relu/{}/2x3/self=stepped/cpu/aoti.cpp", first))));
}

TEST(Plan, LaysOutEachArgumentAloneAndKeepsSizesWhereThereAreSeveral) {
  const std::vector<std::string> ids = case_ids({{"add.Tensor"}, {}, {}, {}});
  EXPECT_THAT(ids, Contains("add.Tensor/float32/4x8,4x8/self=stepped/cpu/value.layout"));
  EXPECT_THAT(ids, Contains("add.Tensor/float32/4x8,4x8/other=stepped/cpu/value.layout"));
  EXPECT_THAT(ids, Contains("add.Tensor/float32/4x8,4x8/all=stepped/cpu/value.layout"));
  EXPECT_THAT(ids, Contains("add.Tensor/float32/4x8,4x8/self+other=together/cpu/value.layout"));
  EXPECT_THAT(ids, Contains("add.Tensor/float32/4x8,4x8/self+other=same/cpu/value.layout"));
  EXPECT_THAT(ids, Contains("add.Tensor/float32/4x8,4x8/size8=0/cpu/value.empty"));
  EXPECT_THAT(ids, Each(Not(HasSubstr("empty-dim"))));
  EXPECT_THAT(ids, Each(Not(HasSubstr("0-dim"))));
}

TEST(Plan, ExpandsNoArgumentThatTheOperatorWrites) {
  const std::vector<Spec> in_place{spec_of("opgate_test::double_in_place", {{uniform({4, 8})}})};
  for (const PlannedCall& call : make_plan(in_place, checks()).calls) {
    EXPECT_THAT(call.id, Not(HasSubstr("expanded")));
  }
  EXPECT_THAT(layouts_of("effect.mutation"), Contains("expanded"));
}

TEST(Plan, GivesModelsTheChecksForModelsOnContiguousInput) {
  Spec model = specs()[0];
  model.kind = Spec::Kind::model;
  const std::vector<Spec> models{model};
  std::set<std::string> planned;
  for (const PlannedCall& call : make_plan(models, checks()).calls) {
    EXPECT_EQ(call.key.variant, "contiguous");
    for (const Check* check : call.checks) {
      EXPECT_TRUE(check->scope.models) << check->name;
      planned.insert(check->name);
    }
  }
  EXPECT_EQ(planned, (std::set<std::string>{"aoti.cpp", "aoti.cross", "aoti.refuses", "aoti.threads"}));
}

TEST(Filter, SelectsByEachOfItsLists) {
  EXPECT_THAT(case_ids({{"rel?"}, {}, {}, {}}), Each(HasSubstr("relu/")));
  EXPECT_THAT(case_ids({{}, {"value.layout"}, {}, {}}), Each(HasSubstr("/value.layout")));
  EXPECT_THAT(case_ids({{}, {"effect"}, {}, {}}), Each(HasSubstr("/effect.")));
  EXPECT_THAT(case_ids({{}, {}, {"cuda"}, {}}), Each(HasSubstr("/cuda/")));
  EXPECT_THAT(case_ids({{}, {}, {}, {"*=stepped/*", "*=offset/*"}}),
              Each(::testing::AnyOf(HasSubstr("=stepped"), HasSubstr("=offset/"))));
  EXPECT_THAT(case_ids({{"relu"}, {"value"}, {"cpu"}, {}}), IsSubsetOf(case_ids()));
}

TEST(Filter, TogetherSelectsWhatEachSelects) {
  EXPECT_THAT(case_ids({{"relu"}, {"value.layout"}, {"cpu"}, {"relu/float32/4x8/self=stepped/*"}}),
              ::testing::ElementsAre("relu/float32/4x8/self=stepped/cpu/value.layout"));
}

TEST(Filter, IsRefusedWhereAPatternMatchesNothing) {
  EXPECT_THAT(refusal({{"relux"}, {}, {}, {}}),
              AllOf(HasSubstr("no op matches 'relux'"), HasSubstr("add.Tensor, relu")));
  EXPECT_THAT(refusal({{"relu", "gelu"}, {}, {}, {}}), HasSubstr("'gelu'"));
  EXPECT_THAT(refusal({{}, {"value.layouts"}, {}, {}}),
              AllOf(HasSubstr("no check matches 'value.layouts'"), HasSubstr("value.layout")));
  EXPECT_THAT(refusal({{}, {}, {"xpu"}, {}}), HasSubstr("no device matches 'xpu'; there are: cpu, cuda"));
  EXPECT_THAT(refusal({{}, {}, {}, {"relu/*", "relu/float99/*"}}),
              HasSubstr("no case matches 'relu/float99/*'"));
}

TEST(Filter, IsRefusedWhereNothingIsLeft) {
  EXPECT_THAT(refusal({{"add.Tensor"}, {}, {"cuda"}, {}}), HasSubstr("nothing to check"));
}

std::vector<std::string> operators_in(const std::string& order) {
  std::vector<Spec> several;
  for (const char* op : {"aten::abs", "aten::cos", "aten::exp", "aten::neg", "aten::relu", "aten::sin"})
    several.push_back(spec_of(op, {{uniform({4})}}));
  Filter filter;
  filter.order = order;
  std::vector<std::string> ids;
  for (const PlannedCall& call : make_plan(several, checks(), filter).calls) {
    if (ids.empty() || ids.back() != call.key.spec->id) ids.push_back(call.key.spec->id);
  }
  return ids;
}

TEST(Filter, OrdersTheOperators) {
  const std::vector<std::string> by_id = operators_in("");
  EXPECT_THAT(by_id, ::testing::ElementsAre("abs", "cos", "exp", "neg", "relu", "sin"));
  EXPECT_THAT(operators_in("reversed"), ::testing::ElementsAre("sin", "relu", "neg", "exp", "cos", "abs"));
  const std::vector<std::string> shuffled = operators_in("3");
  EXPECT_THAT(shuffled, ::testing::UnorderedElementsAreArray(by_id));
  EXPECT_NE(shuffled, by_id);
  EXPECT_EQ(shuffled, operators_in("3"));
  EXPECT_NE(shuffled, operators_in("4"));
  for (const char* wrong : {"backwards", "-1", "3x", " "})
    EXPECT_THAT(message_of<SetupError>([&] { operators_in(wrong); }), HasSubstr("--order "));
}

TEST(Filter, IsReadBackFromJson) {
  const Filter filter{{"relu"}, {"value", "effect.*"}, {"cpu"}, {"*=stepped/*"}};
  const auto read = nlohmann::json(filter).get<Filter>();
  EXPECT_EQ(make_plan(specs(), checks(), read).digest(), make_plan(specs(), checks(), filter).digest());
  EXPECT_EQ(read.cases, filter.cases);
}

TEST(PatternOf, MatchesTheTextAndNothingElse) {
  std::vector<Spec> odd = specs();
  odd[0].samples[0].name = "a*b[1]\\?";
  odd[0].samples[1].name = "aXb1\\Y";  // the name above would match it as a pattern
  const std::string id = "relu/float32/a*b[1]\\?/contiguous/cpu/value.reference";
  const Plan plan = make_plan(odd, checks(), {{}, {}, {}, {pattern_of(id)}});
  ASSERT_EQ(plan.cases(), 1u);
  EXPECT_EQ(case_id(plan.calls[0], *plan.calls.checks(0)[0]), id);
}

TEST(Shard, HoldsEachCallOfThePlanOnce) {
  for (const uint32_t count : {1u, 2u, 3u, 7u, 1000u}) {
    for (uint32_t call = 0; call < 50; ++call) {
      size_t held = 0;
      for (uint32_t index = 1; index <= count; ++index) held += Shard{index, count}.holds(call);
      EXPECT_EQ(held, 1u) << call << " of " << count;
    }
  }
}

TEST(Shard, IsReadBackAndRefusedWhereItIsNone) {
  EXPECT_EQ(shard_from_string("2/3"), (Shard{2, 3}));
  EXPECT_EQ(to_string(Shard{12, 345}), "12/345");
  for (const char* text : {"", "x", "0/3", "4/3", "1", "1/", "/3", "-1/3", "1/3/3", "1.5/3", "1/0", " 1/3"}) {
    EXPECT_THAT(message_of<SetupError>([&] { shard_from_string(text); }),
                AllOf(HasSubstr("'" + std::string(text) + "' is no shard"), HasSubstr("I/N")));
  }
}

TEST(CaseSet, OfAllShardsIsThePlan) {
  const Plan plan = make_plan(specs(), checks());
  size_t together = 0;
  for (uint32_t index = 1; index <= 3; ++index) together += CaseSet(plan.calls, Shard{index, 3}).size();
  EXPECT_EQ(together, plan.cases());
}

// The cost of a part of the plan, if all calls of one operator and device cost the same.
double seconds_of(const Calls& calls, const ShardAssignment& cut, const Costs& costs) {
  double seconds = 0;
  for (Calls::Position call = 0; call < calls.size(); ++call) {
    const Cost& cost = costs.at(cost_key(calls.spec(call), calls.device_name(call)));
    if (cut.holds(call)) seconds += cost.seconds / static_cast<double>(cost.calls);
  }
  return seconds;
}

TEST(ShardAssignment, ByCostsHasEachCallOnceAndPartsThatCostAlike) {
  const Plan plan = make_plan(specs(), checks());
  const Costs costs{{"add.Tensor/cpu", {100, 10}}, {"relu/cpu", {1, 10}}, {"relu/cuda", {0, 10}}};
  for (const uint32_t count : {1u, 2u, 3u, 7u}) {
    std::vector<size_t> held(plan.calls.size());
    std::vector<double> seconds;
    for (uint32_t index = 1; index <= count; ++index) {
      const ShardAssignment cut({index, count}, plan.calls, costs);
      for (Calls::Position call = 0; call < plan.calls.size(); ++call) held[call] += cut.holds(call);
      seconds.push_back(seconds_of(plan.calls, cut, costs));
    }
    EXPECT_THAT(held, Each(1u));
    const auto [least, most] = std::ranges::minmax(seconds);
    EXPECT_GT(least, 0.7 * most) << count << " parts";
  }
}

TEST(ShardAssignment, TakesWhatIsNotKnownToCostWhatAllDo) {
  const Plan plan = make_plan(specs(), checks(), {{}, {}, {"cpu"}, {}});
  const Costs costs{{"relu/cpu", {10, 10}}};
  size_t first = 0;
  for (Calls::Position call = 0; call < plan.calls.size(); ++call)
    first += ShardAssignment({1, 2}, plan.calls, costs).holds(call);
  EXPECT_NEAR(static_cast<double>(first), static_cast<double>(plan.calls.size()) / 2,
              static_cast<double>(plan.calls.size()) / 8);
}

TEST(ShardAssignment, ByNothingIsByPosition) {
  const Plan plan = make_plan(specs(), checks());
  const ShardAssignment cut(Shard{2, 3});
  for (Calls::Position call = 0; call < plan.calls.size(); ++call) EXPECT_EQ(cut.holds(call), call % 3 == 1);
}

TEST(Costs, OfTwoPartsAddUpAndAreReadBack) {
  Costs costs{{"a/cpu", {1.5, 3}}};
  add({{"a/cpu", {0.5, 1}}, {"b/cpu", {2, 4}}}, costs);
  EXPECT_EQ(costs.at("a/cpu").seconds, 2);
  EXPECT_EQ(costs.at("a/cpu").calls, 4u);
  EXPECT_EQ(digest(nlohmann::json::parse(nlohmann::json(costs).dump()).get<Costs>()), digest(costs));
  EXPECT_NE(digest(costs), digest(Costs()));
}

TEST(CaseSet, GivesUpEachCaseOnce) {
  const Plan plan = make_plan(specs(), checks());
  CaseSet todo(plan.calls, Shard{2, 2});
  const Check& check = *plan.calls.checks(1).front();
  EXPECT_FALSE(todo.contains(0, check));
  EXPECT_TRUE(todo.contains(1, check));
  EXPECT_EQ(todo.of(1), plan.calls.checks(1));
  const size_t before = todo.size();
  EXPECT_TRUE(todo.remove(1, check));
  EXPECT_FALSE(todo.remove(1, check));
  EXPECT_FALSE(todo.remove(0, check));
  EXPECT_EQ(todo.size(), before - 1);
  EXPECT_EQ(todo.of(1).size(), plan.calls.checks(1).size() - 1);
}

TEST(CallIndex, FindsEachCallByItsId) {
  const Plan plan = make_plan(specs(), checks());
  const CallIndex index(plan.calls);
  for (Calls::Position call = 0; call < plan.calls.size(); ++call)
    EXPECT_EQ(index.find(plan.calls.id(call)), call);
  EXPECT_EQ(index.find("relu/float32/4x8/contiguous"), std::nullopt);
}

TEST(FindCheck, ListsWhatThereIs) {
  EXPECT_EQ(&find_check(checks(), "value.layout"),
            &*std::ranges::find(checks(), "value.layout", &Check::name));
  EXPECT_THAT(message_of<SetupError>([] { find_check(checks(), "value"); }),
              AllOf(HasSubstr("no check is named 'value'"), HasSubstr("value.dtype, value.empty, ")));
}

}  // namespace
}  // namespace opgate::plan_test
