// Measures what planning costs for each case, and what it costs to list the cases of a plan, for 10^3 to
// 10^6 cases. `s/case` must not grow with the number of cases.
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <opgate/spec.h>

#include <map>

#include "judging/all_checks.h"
#include "plan/case_set.h"
#include "plan/plan.h"
#include "spec/spec.h"
#include "spec/specs.h"

namespace opgate {
namespace {

// A spec of one operator with enough samples for at least this many native cases.
const std::vector<Spec>& specs_for(size_t cases) {
  static std::map<size_t, std::vector<Spec>> made;
  std::vector<Spec>& specs = made[cases];
  if (!specs.empty()) return specs;
  specs.resize(1);
  specs[0].name = "aten::relu";
  SpecWriter writer(specs[0]);
  writer.dtypes(c10::kCPU, floating()).reference("aten::relu").accuracy(exact());
  const auto add_sample = [&](size_t i) { writer.sample({uniform({4, 8 + static_cast<int64_t>(i)})}); };
  add_sample(0);
  add_sample(1);
  const auto planned = [&] {
    fit_to_schema(specs[0]);
    name_subjects(specs);
    return make_plan(specs, native_checks()).cases();
  };
  const size_t each = planned() / 2;
  for (size_t i = 2; i < cases / each + 1; ++i) add_sample(i);
  planned();
  return specs;
}

void report(benchmark::State& state, const Plan& plan) {
  state.counters["cases"] = static_cast<double>(plan.cases());
  state.counters["s/case"] =
      benchmark::Counter(static_cast<double>(plan.cases()),
                         benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

void make(benchmark::State& state) {
  const std::vector<Check> checks = native_checks();
  const std::vector<Spec>& specs = specs_for(static_cast<size_t>(state.range(0)));
  for (auto _ : state) benchmark::DoNotOptimize(make_plan(specs, checks));
  report(state, make_plan(specs, checks));
}

void digest(benchmark::State& state) {
  const std::vector<Check> checks = native_checks();
  const Plan plan = make_plan(specs_for(static_cast<size_t>(state.range(0))), checks);
  for (auto _ : state) benchmark::DoNotOptimize(plan.digest());
  report(state, plan);
}

void ids(benchmark::State& state) {
  const std::vector<Check> checks = native_checks();
  const Plan plan = make_plan(specs_for(static_cast<size_t>(state.range(0))), checks);
  for (auto _ : state) {
    for (Calls::Position call = 0; call < plan.calls.size(); ++call)
      benchmark::DoNotOptimize(plan.calls.id(call));
  }
  report(state, plan);
}

void take_out(benchmark::State& state) {
  const std::vector<Check> checks = native_checks();
  const Plan plan = make_plan(specs_for(static_cast<size_t>(state.range(0))), checks);
  for (auto _ : state) {
    CaseSet todo(plan.calls, {});
    for (Calls::Position call = 0; call < plan.calls.size(); ++call) {
      for (const Check* check : plan.calls.checks(call)) benchmark::DoNotOptimize(todo.remove(call, *check));
    }
  }
  report(state, plan);
}

BENCHMARK(make)->Name("plan/make")->RangeMultiplier(10)->Range(1000, 1000000)->Unit(benchmark::kMillisecond);
BENCHMARK(digest)
    ->Name("plan/digest")
    ->RangeMultiplier(10)
    ->Range(1000, 1000000)
    ->Unit(benchmark::kMillisecond);
BENCHMARK(ids)->Name("plan/ids")->RangeMultiplier(10)->Range(1000, 1000000)->Unit(benchmark::kMillisecond);
BENCHMARK(take_out)
    ->Name("plan/verdicts")
    ->RangeMultiplier(10)
    ->Range(1000, 1000000)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace opgate
