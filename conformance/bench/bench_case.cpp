#include "bench/bench_case.h"

#include <ATen/core/function_schema.h>
#include <fmt/format.h>
#include <opgate/error.h>

#include <algorithm>

#include "base/dtypes.h"
#include "device/accelerator.h"
#include "inputs/call_key.h"
#include "plan/patterns.h"
#include "spec/spec.h"

namespace opgate {

std::string_view to_string(Direction direction) {
  return direction == Direction::forward ? "forward" : "backward";
}

std::optional<double> BenchCase::limit() const {
  return (direction == Direction::forward ? bench->forward : bench->backward).on(device);
}

bool BenchCase::same_pair(const BenchCase& other) const {
  return bench == other.bench && device == other.device && direction == other.direction;
}

std::string describe(const BenchCase& bench) {
  const std::string threads =
      bench.threads == 0 ? "" : fmt::format(", {} thread{}", bench.threads, bench.threads == 1 ? "" : "s");
  return fmt::format("{} {} {} {} {}{}", bench.spec->id, bench.bench->sample.name,
                     dtype_name(bench.bench->dtype), to_string(bench.direction), device_name(bench.device),
                     threads);
}

namespace {

bool has(const Spec& spec, Direction direction) {
  return direction == Direction::forward ||
         (spec.promised(Promise::differentiable) && !spec.op->schema().is_mutable());
}

void add_cases(const Spec& spec, const BenchFilter& filter, std::vector<BenchCase>& cases) {
  for (const Bench& bench : spec.benches) {
    for (const auto& [device, accepted] : spec.dtypes) {
      if (!selects(filter.devices, device_name(device))) continue;
      if (std::ranges::find(accepted, bench.dtype) == accepted.end()) continue;
      for (const Direction direction : {Direction::forward, Direction::backward}) {
        if (!has(spec, direction) || !selects(filter.directions, std::string(to_string(direction)))) continue;
        for (const int threads : device == c10::kCPU ? filter.threads : std::vector<int>{0})
          cases.push_back({&spec, &bench, device, direction, threads});
      }
    }
  }
}

}  // namespace

std::vector<BenchCase> plan_benches(const std::vector<Spec>& specs, const BenchFilter& filter) {
  Names ops;
  std::vector<BenchCase> cases;
  for (const Spec& spec : specs) {
    if (spec.benches.empty()) continue;
    ops[spec.id] = spec.name;
    if (selects(filter.ops, spec.id) || selects(filter.ops, spec.name)) add_cases(spec, filter, cases);
  }
  if (ops.empty()) throw SetupError("no spec here has a bench: write spec.bench({...}), see docs/bench.md");
  demand_matches("op with a bench", filter.ops, ops);
  demand_matches("device", filter.devices, device_type_names());
  if (cases.empty())
    throw SetupError("nothing to measure: no bench has this operator, device and direction together");
  return cases;
}

}  // namespace opgate
