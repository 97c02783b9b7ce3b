#include "gate/rule.h"

#include <algorithm>

namespace opgate {

Remarks judge_change(const Change& change) {
  Remarks remarks;
  for (const Rule& rule : Registry<Rule>::instance().parts()) rule.judge(change, remarks);
  std::ranges::stable_sort(remarks, {}, &Remark::kind);
  return remarks;
}

void for_each_subject(const Change& change, const OnSubject& on_subject) {
  for (const auto& [id, base] : change.base) {
    const auto head = change.head.state.find(id);
    if (head != change.head.state.end()) on_subject(id, base, head->second);
  }
}

void for_each_device(const Change& change, const OnDevice& on_device) {
  for_each_subject(change, [&](const std::string& id, const SubjectState& base, const SubjectState& head) {
    for (const auto& [device, state] : base.devices) {
      const auto found = head.devices.find(device);
      if (found != head.devices.end()) on_device(id, device, state, found->second);
    }
  });
}

bool measured_comparably(const SubjectState& base, const SubjectState& head) {
  return base.measured == head.measured;
}

}  // namespace opgate
