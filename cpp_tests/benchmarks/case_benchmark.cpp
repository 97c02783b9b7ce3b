// Measures what one native case costs: identity_conv on a float32 tensor of 4 KiB, with each check alone
// and with all checks that are always on, as in a run ("one judged call"). The bare dispatcher call is
// measured for comparison.
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/full.h>
#include <benchmark/benchmark.h>
#include <opgate/spec.h>

#include <memory>
#include <stdexcept>

#include "judging/all_checks.h"
#include "judging/calls/judge_call.h"
#include "judging/verdict.h"
#include "plan/plan.h"
#include "run/worker/worker.h"
#include "spec/spec.h"
#include "spec/specs.h"

namespace opgate {
namespace {

// The checks that run for every call of their layout, whatever the operator promises.
std::vector<std::string> always_on(const std::string& layout) {
  return {"effect.alias",
          "effect.mutation",
          "effect.state",
          "fake.metadata",
          "memory.bounds",
          "memory.uninitialised",
          layout == "contiguous" ? "value.reference" : "value.layout"};
}

// The operator's own spec, with only the sample that is measured.
const Spec& measured_spec() {
  static const Spec spec = [] {
    std::vector<Spec> specs = registered_specs();
    const auto found = std::ranges::find(specs, "opgate_ops::identity_conv", &Spec::name);
    if (found == specs.end())
      throw std::runtime_error("no spec of identity_conv: is libopgate_ops_specs linked?");
    found->samples.clear();
    SpecWriter(*found).sample({uniform({32, 32})});
    fit_to_schema(*found);
    name_subjects(specs);
    return *found;
  }();
  return spec;
}

// Throws if a case fails, because a failing case takes another path through the code than the one to be
// measured.
void demand_passes(const std::map<std::string, Judgement>& judgements) {
  for (const auto& [check, judgement] : judgements) {
    if (judgement.verdict != Verdict::pass) throw std::runtime_error(check + " does not pass");
  }
}

void judge(benchmark::State& state, const std::string& layout, const std::vector<std::string>& names) {
  const std::vector<Check> all = native_checks();
  std::vector<const Check*> checks;
  for (const std::string& name : names) checks.push_back(&find_check(all, name));
  const CallKey key{&measured_spec(), &measured_spec().samples[0], c10::kFloat, c10::kCPU, layout};
  WorkerCache bench;
  demand_passes(judge_call(key, checks, bench));
  for (auto _ : state) benchmark::DoNotOptimize(judge_call(key, checks, bench));
  state.counters["s/case"] =
      benchmark::Counter(static_cast<double>(checks.size()),
                         benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

void bare_call(benchmark::State& state) {
  const auto op = *find_op("opgate_ops::identity_conv");
  const at::Tensor x = at::full({32, 32}, 1.0f);
  for (auto _ : state) {
    torch::jit::Stack stack{x};
    op.callBoxed(stack);
    benchmark::DoNotOptimize(stack);
  }
}

const bool registered = [] {
  benchmark::RegisterBenchmark("one boxed call", &bare_call)->Unit(benchmark::kMicrosecond);
  for (const std::string layout : {"contiguous", "x=stepped"}) {
    const auto add = [&](const std::string& what, const std::vector<std::string>& names) {
      benchmark::RegisterBenchmark((layout + "/" + what).c_str(), [=](benchmark::State& state) {
        judge(state, layout, names);
      })->Unit(benchmark::kMicrosecond);
    };
    for (const std::string& name : always_on(layout)) add(name, {name});
    add("one judged call", always_on(layout));
  }
  return true;
}();

}  // namespace
}  // namespace opgate
