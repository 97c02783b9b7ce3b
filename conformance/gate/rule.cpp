#include "gate/rule.h"

#include <algorithm>

namespace opgate {

void RuleReport::add(Remark::Kind kind, std::string op, std::string what, std::string shown,
                     std::string device, std::set<std::string> dtypes) {
  add({kind, std::string(rule_), std::move(op), std::move(what), std::move(shown), std::move(device),
       std::move(dtypes)});
}

Remarks judge_change(const Change& change) {
  Remarks remarks;
  for (const Rule& rule : Registry<Rule>::instance().parts()) {
    RuleReport report(rule.name, remarks);
    rule.judge(change, report);
  }
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

const MachineResults* results_here(const Change& change, const DeviceState& base) {
  return base.on(machine_of(change.head.header));
}

bool same_arguments(const SubjectFacts& base, const SubjectFacts& head, const std::string& sample) {
  for (const auto samples : {&SubjectFacts::samples, &SubjectFacts::rejections}) {
    const auto then = (base.*samples).find(sample), now = (head.*samples).find(sample);
    if (then != (base.*samples).end()) return now != (head.*samples).end() && then->second == now->second;
  }
  return true;  // the sample of a model, which is described elsewhere
}

const RunState* run_on_base_sample(const Change& change, const std::string& id, const std::string& sample) {
  const auto has = [&](const RunState& run) {
    const auto subject = run.state.find(id);
    return subject != run.state.end() &&
           same_arguments(change.base.at(id).facts, subject->second.facts, sample);
  };
  if (has(change.head)) return &change.head;
  return change.on_base_samples != nullptr && has(*change.on_base_samples) ? change.on_base_samples : nullptr;
}

std::map<std::string, std::string> renamed_samples(const SubjectFacts& base, const SubjectFacts& head) {
  std::map<std::string, std::string> renamed;
  const auto match = [&](const auto& then, const auto& now) {
    for (const auto& [name, arguments] : then) {
      if (now.contains(name)) continue;
      const auto same = std::ranges::find_if(
          now, [&](const auto& entry) { return entry.second == arguments && !then.contains(entry.first); });
      if (same != now.end()) renamed[name] = same->first;
    }
  };
  match(base.samples, head.samples);
  match(base.rejections, head.rejections);
  return renamed;
}

}  // namespace opgate
