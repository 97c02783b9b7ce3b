// bits.changed: operators that promise to be deterministic return the same bits as before.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>

#include "gate/rule.h"

namespace opgate::bits_changed {
namespace {

constexpr auto kRule = "bits.changed";

void judge_bits(const Change& change, const std::string& id, const std::string& device,
                const MachineResults& base, const MachineResults& head, Remarks& remarks) {
  std::set<std::string> dtypes;
  std::string first;
  size_t changed = 0;
  for (const auto& [sample, by_dtype] : base.bits) {
    const auto found = head.bits.find(sample);
    const bool same = same_arguments(change.base.at(id).facts, change.head.state.at(id).facts, sample);
    if (found == head.bits.end() || !same) continue;
    for (const auto& [dtype, then] : by_dtype) {
      const auto now = found->second.find(dtype);
      if (now == found->second.end() || now->second == then) continue;
      ++changed;
      dtypes.insert(dtype);
      if (first.empty())
        first = fmt::format("{}/{}/{}/contiguous/{}/value.reference", id, dtype, sample, device);
    }
  }
  if (changed == 0) return;
  remarks.push_back(
      {Remark::Kind::refused, kRule, id,
       fmt::format("{}: the bits of {} results changed ({}), though it promises to be deterministic", device,
                   changed, fmt::join(dtypes, ", ")),
       first, device, dtypes});
}

void judge(const Change& change, Remarks& remarks) {
  std::set<std::string> others;
  for_each_device(change, [&](const std::string& id, const std::string& device, const DeviceState& base,
                              const DeviceState& head) {
    const MachineResults* now = results_here(change, head);
    if (now == nullptr) return;
    if (const MachineResults* then = results_here(change, base)) {
      judge_bits(change, id, device, *then, *now, remarks);
    } else {
      for (const auto& [machine, results] : base.machines) others.insert(machine);
    }
  });
  if (others.empty()) return;
  remarks.push_back({Remark::Kind::note, kRule, "",
                     fmt::format("bits and errors were accepted on {} and are not compared with those of {}; "
                                 "the tolerances of the specs hold all the same",
                                 fmt::join(others, " and "), machine_of(change.head.header)),
                     ""});
}

OPGATE_REGISTER_RULE(
    bits_changed,
    {kRule,
     {"An operator that promises to be deterministic returns the same bits as before.",
      "Users rely on the promise when they resume a training run, or compare with stored results.",
      "Keep the order of the floating-point operations. If other bits are intended, for example because the "
      "error is smaller, review the change and run `opgate accept`.",
      "A reduction that was split over threads by the number of cores."},
     &judge});

}  // namespace
}  // namespace opgate::bits_changed
