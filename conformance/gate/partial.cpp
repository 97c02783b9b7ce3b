#include "gate/partial.h"

#include <fmt/format.h>
#include <opgate/error.h>

#include "plan/plan.h"

namespace opgate {

bool is_partial(const RunState& run) {
  const Filter filter = run.header.filter.get<Filter>();
  if (filter.checks.empty() && filter.devices.empty() && filter.cases.empty()) return !filter.ops.empty();
  throw SetupError(
      fmt::format("{} has only some checks, devices or cases of its operators; run them again "
                  "without --check, --device and --case",
                  run.file.string()));
}

namespace {

// True where no case ran on this machine: each one is owed, or passed on another machine.
bool is_unchecked(const DeviceState& device) {
  size_t planned = 0;
  size_t not_here = 0;
  for (const auto& [check, by_dtype] : device.cases) planned += total(by_dtype);
  for (const auto* table : {&device.owed, &device.by_evidence}) {
    for (const auto& [check, by_dtype] : *table) not_here += total(by_dtype);
  }
  return planned == not_here;
}

}  // namespace

void keep_unchecked_devices(const State& base, State& head) {
  for (auto& [id, subject] : head) {
    const auto known = base.find(id);
    if (known == base.end()) continue;
    for (auto& [name, device] : subject.devices) {
      const auto then = known->second.devices.find(name);
      if (then == known->second.devices.end()) continue;
      if (device.speed.empty()) device.speed = then->second.speed;  // speeds were not measured this time
      if (!is_unchecked(device)) continue;
      device.worst = then->second.worst;
      device.bits = then->second.bits;
      device.outputs = then->second.outputs;
    }
  }
}

}  // namespace opgate
