// owed.more: what this machine could check before, it still checks; with --strict-gpu, nothing is owed.
#include <fmt/format.h>

#include <algorithm>

#include "gate/rule.h"

namespace opgate::owed_more {
namespace {

constexpr auto kRule = "owed.more";

size_t total_owed(const std::map<std::string, ByDtype<size_t>>& counts) {
  size_t sum = 0;
  for (const auto& [check, by_dtype] : counts) sum += total(by_dtype);
  return sum;
}

void judge(const Change& change, Remarks& remarks) {
  for (const auto& [id, subject] : change.head.state) {
    for (const auto& [device, head] : subject.devices) {
      const size_t owed = total_owed(head.owed);
      if (device != "cpu") {
        if (change.strict_gpu && owed > 0)
          remarks.push_back({Remark::Kind::refused, kRule, id,
                             fmt::format("{}: {} cases are owed, and --strict-gpu wants none", device, owed),
                             ""});
        continue;
      }
      const auto known = change.base.find(id);
      if (known == change.base.end() || !known->second.devices.contains(device)) continue;
      const size_t before = total_owed(known->second.devices.at(device).owed);
      if (owed > before)
        remarks.push_back(
            {Remark::Kind::refused, kRule, id,
             fmt::format("{}: {} cases are owed that were checked before", device, owed - before), ""});
    }
  }
}

OPGATE_REGISTER_RULE(
    owed_more, {kRule,
                {"No more cases are owed on the CPU than were; with --strict-gpu none on any device.",
                 "Owed is not passed: what a machine could not check may be wrong.",
                 "Give the machine what is missing, or keep evidence of one that has it: `opgate evidence`.",
                 "A module that a worker could not import any more: its checks had been owed for months."},
                &judge});

}  // namespace
}  // namespace opgate::owed_more
