// owed.more: on the CPU, no more cases are owed than before; with --strict-gpu, no case is owed on a GPU.
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
                {"No more cases are owed on the CPU than before; with --strict-gpu, none on a GPU.",
                 "An owed case was not run, because this machine lacks what it needs: it may fail elsewhere.",
                 "Install what is missing. For a device that this machine lacks, keep evidence from one that "
                 "has it: `opgate evidence`.",
                 "A module that a worker could no longer import: its checks had been owed for months."},
                &judge});

}  // namespace
}  // namespace opgate::owed_more
