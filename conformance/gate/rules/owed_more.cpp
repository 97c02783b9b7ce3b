// owed.more: on the CPU and on the simulated device, no more cases are owed than before; with --strict-gpu,
// no case is owed on a GPU.
#include <fmt/format.h>

#include "gate/partial.h"
#include "gate/rule.h"
#include "inputs/call_key.h"

namespace opgate::owed_more {
namespace {

using Owed = std::map<std::string, ByDtype<size_t>>;

size_t owed_of(const Owed& owed, const std::string& check) {
  const auto found = owed.find(check);
  return found == owed.end() ? 0 : total(found->second);
}

void judge(const Change& change, RuleReport& report) {
  for (const auto& [id, subject] : change.head.state) {
    for (const auto& [device, head] : subject.devices) {
      const auto refuse = [&](std::string what) { report.refuse(id, fmt::format("{}: {}", device, what)); };
      const auto known = change.base.find(id);
      const bool is_known = known != change.base.end() && known->second.devices.contains(device);
      const bool is_accelerator = device != kSimulatedDevice && device != device_name(c10::kCPU);
      size_t all_owed = 0;
      for (const auto& [check, by_dtype] : head.owed) {
        const size_t owed = total(by_dtype);
        all_owed += owed;
        if (is_accelerator || (device == kSimulatedDevice && is_unchecked(head))) continue;
        const size_t before = is_known ? owed_of(known->second.devices.at(device).owed, check) : owed;
        if (owed > before)
          refuse(fmt::format("{} more cases of {} are owed than before", owed - before, check));
      }
      if (is_accelerator && change.strict_gpu && all_owed > 0)
        refuse(fmt::format("{} cases are owed, and --strict-gpu wants none", all_owed));
    }
  }
}

OPGATE_REGISTER_RULE(owed_more, {.name = "owed.more", .judge = &judge});

}  // namespace
}  // namespace opgate::owed_more
