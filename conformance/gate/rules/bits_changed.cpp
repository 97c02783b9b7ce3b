// bits.changed: operators that promise to be deterministic return the same bits as before.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>

#include "gate/rule.h"

namespace opgate::bits_changed {
namespace {

// The bits that the head returned for the base's arguments; null if it was not called with them here.
const ByDtype<std::string>* bits_now(const Change& change, const std::string& id, const std::string& device,
                                     const std::string& sample) {
  const RunState* run = run_on_base_sample(change, id, sample);
  if (run == nullptr) return nullptr;
  const auto& devices = run->state.at(id).devices;
  const auto state = devices.find(device);
  const MachineResults* here = state == devices.end() ? nullptr : results_here(change, state->second);
  if (here == nullptr) return nullptr;
  const auto found = here->bits.find(sample);
  return found == here->bits.end() ? nullptr : &found->second;
}

void judge_bits(const Change& change, const std::string& id, const std::string& device,
                const MachineResults& base, RuleReport& report) {
  std::set<std::string> dtypes;
  std::string first;
  size_t changed = 0;
  for (const auto& [sample, by_dtype] : base.bits) {
    const ByDtype<std::string>* head = bits_now(change, id, device, sample);
    if (head == nullptr) continue;
    for (const auto& [dtype, then] : by_dtype) {
      const auto now = head->find(dtype);
      if (now == head->end() || now->second == then) continue;
      ++changed;
      dtypes.insert(dtype);
      if (first.empty())
        first = fmt::format("{}/{}/{}/contiguous/{}/value.reference", id, dtype, sample, device);
    }
  }
  if (changed == 0) return;
  report.refuse(id,
                fmt::format("{}: the bits of {} results changed ({}), though it promises to be deterministic",
                            device, changed, fmt::join(dtypes, ", ")),
                first, device, dtypes);
}

void judge(const Change& change, RuleReport& report) {
  std::set<std::string> others;
  for_each_device(change, [&](const std::string& id, const std::string& device, const DeviceState& base,
                              const DeviceState& head) {
    if (results_here(change, head) == nullptr) return;
    if (const MachineResults* then = results_here(change, base)) {
      judge_bits(change, id, device, *then, report);
    } else {
      for (const auto& [machine, results] : base.machines) others.insert(machine);
    }
  });
  if (others.empty()) return;
  report.note("", fmt::format("bits and errors were accepted on {} and are not compared with those of {}; "
                              "the tolerances of the specs hold all the same",
                              fmt::join(others, " and "), machine_of(change.head.header)));
}

OPGATE_REGISTER_RULE(bits_changed, {.name = "bits.changed", .judge = &judge});

}  // namespace
}  // namespace opgate::bits_changed
