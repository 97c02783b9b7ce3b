#include "cli/by_evidence.h"

#include <fmt/format.h>

#include <algorithm>

#include "call/device.h"
#include "gate/device_evidence.h"

namespace opgate {
namespace {

// What is known of one operator on one device that is not here.
struct Known {
  const DeviceEvidence* evidence = nullptr;
  std::string difference;                 // from what is here; empty where it holds
  std::map<std::string, size_t> planned;  // cases, by check
};

// The one that holds, or else the last that was given.
void find_evidence(const std::vector<DeviceEvidence>& all, const std::string& device, const Tested& now,
                   Known& known) {
  for (const DeviceEvidence& one : all) {
    if (one.device != device) continue;
    const std::string differs = difference(one.tested, now);
    const bool better = known.evidence == nullptr || differs.empty() ||
                        (!known.difference.empty() && one.date > known.evidence->date);
    if (!better) continue;
    known.evidence = &one;
    known.difference = differs;
  }
}

Judgement judgement_of(const Known& known, const Check& check, const std::string& missing) {
  const auto seen = known.evidence->checks.find(check.name);
  const bool covers = seen != known.evidence->checks.end() && known.planned.at(check.name) <= seen->second;
  if (known.difference.empty() && covers) {
    Judgement passed = Judgement::pass();
    passed.reason = in_words(*known.evidence);
    return passed;
  }
  const std::string stale =
      known.difference.empty()
          ? fmt::format("{} does not cover it", in_words(*known.evidence))
          : fmt::format("{} is out of date by {}", in_words(*known.evidence), known.difference);
  return Judgement::owed(fmt::format("{}; {}", missing, stale));
}

}  // namespace

void give_by_evidence(const Project& project, const Plan& plan, const RunHeader& header, CaseSet& todo,
                      const OnCase& on_case) {
  const Evidences evidences = read_evidence(project.config.evidence);
  if (evidences.empty()) return;
  std::map<std::pair<const Spec*, c10::DeviceType>, Known> all;
  const Calls& calls = plan.calls;
  for (Calls::Position call = 0; call < calls.size(); ++call) {
    const auto of_op = evidences.find(calls.spec(call).id);
    if (of_op == evidences.end() || !missing_device(calls.device(call))) continue;
    const auto [known, is_new] = all.try_emplace({&calls.spec(call), calls.device(call)});
    if (is_new) {
      const Tested now{header.torch, header.sources, header.subjects.at(of_op->first).sources};
      find_evidence(of_op->second, device_name(calls.device(call)), now, known->second);
    }
    for (const Check* check : calls.checks(call)) ++known->second.planned[check->name];
  }
  for (Calls::Position call = 0; call < calls.size(); ++call) {
    const auto known = all.find({&calls.spec(call), calls.device(call)});
    if (known == all.end() || known->second.evidence == nullptr) continue;
    const std::string id = calls.id(call);
    for (const Check* check : todo.of(call)) {
      todo.remove(call, *check);
      on_case(id + "/" + check->name,
              judgement_of(known->second, *check, *missing_device(calls.device(call))));
    }
  }
}

}  // namespace opgate
