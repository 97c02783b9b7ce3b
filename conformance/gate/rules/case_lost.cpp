// case.lost: what was checked before is still checked: operators, devices, kernels, samples, checks,
// dtypes, cases.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "device/device.h"
#include "gate/rule.h"
#include "judging/all_checks.h"
#include "spec/subject_facts.h"

namespace opgate::case_lost {
namespace {

using Names = std::vector<std::string>;

// Those of `from` that `in` lacks. Kernels are in the order of their dispatch keys, which is not sorted.
Names missing(const Names& from, const Names& in) {
  Names words;
  std::ranges::copy_if(from, std::back_inserter(words),
                       [&](const std::string& word) { return std::ranges::find(in, word) == in.end(); });
  return words;
}

template <class Map>
Names lost_keys(const Map& base, const Map& head) {
  Names lost;
  for (const auto& [key, value] : base) {
    if (!head.contains(key)) lost.push_back(key);
  }
  return lost;
}

// A case that only drafts have is not lost when the spec is finished.
bool is_asked_of_drafts(const PlannedCase& one) {
  static const std::vector<Check> checks = native_checks();
  const auto check = std::ranges::find(checks, one.check, &Check::name);
  return check != checks.end() && may_ask_more_of_drafts(check->scope);
}

class Losses {
 public:
  Losses(const Change& change, RuleReport& report) : change_(change), report_(report) {}

  void judge() {
    if (!change_.partial) {
      for (const std::string& id : lost_keys(change_.base, change_.head.state))
        report_.refuse(id, "the operator no longer has a spec; remove it from the ledger with the operator");
    }
    for (const auto& [device, kept] : change_.kernels_kept) {
      report_.note("", fmt::format("{0} kernels for {1} were not compared, because there is no {1} device "
                                   "here, or the libraries were built without {1}",
                                   kept, device_title(device)));
    }
    for_each_subject(change_, [&](const std::string& id, const SubjectState& base, const SubjectState& head) {
      for (const std::string& device : lost_keys(base.devices, head.devices))
        report_.refuse(id, fmt::format("is no longer promised on {}", device));
      judge_kernels(id, base.facts, head.facts);
      judge_samples(id, base.facts, head.facts);
    });
    for_each_device(change_, [&](const std::string& id, const std::string& device, const DeviceState& base,
                                 const DeviceState& head) { judge_cases(id, device, base, head); });
  }

 private:
  // A kernel that moves from a Python module into a library is not lost; one that moves the other way is, for
  // C++ programs.
  void judge_kernels(const std::string& id, const SubjectFacts& base, const SubjectFacts& head) {
    Names head_all = head.kernels;
    head_all.insert(head_all.end(), head.python_kernels.begin(), head.python_kernels.end());
    judge_kernels(id, "", base.kernels, head.kernels, head.kernels);
    judge_kernels(id, " in Python", base.python_kernels, head.python_kernels, head_all);
  }

  // `head_has` are the kernels that replace those of the base.
  void judge_kernels(const std::string& id, std::string_view where, const Names& base, const Names& head,
                     const Names& head_has) {
    if (const Names added = missing(head, base); !added.empty())
      report_.note(id, fmt::format("has a kernel{} for {} now", where, fmt::join(added, ", ")));
    if (const Names lost = missing(base, head_has); !lost.empty()) {
      report_.refuse(id, fmt::format("no longer has a kernel{} for {}", where, fmt::join(lost, ", ")),
                     fmt::format("kernels{} {} -> {}", where, fmt::join(base, ", "), fmt::join(head, ", ")));
    }
  }

  // A sample of the same name with other arguments makes the same number of cases, but not the same ones.
  void judge_samples(const std::string& id, const SubjectFacts& base, const SubjectFacts& head) {
    for (const auto& [name, arguments] : base.samples) {
      const auto now = head.samples.find(name);
      if (now == head.samples.end() || now->second == arguments) continue;
      report_.refuse(id, fmt::format("the sample `{}` has other arguments", name),
                     fmt::format("{} -> {}", arguments, now->second));
    }
    for (const auto& [then, now] : renamed_samples(base, head))
      report_.note(id, fmt::format("the sample `{}` is called `{}` now", then, now));
  }

  void judge_cases(const std::string& id, const std::string& device, const DeviceState& base,
                   const DeviceState& head) {
    const SubjectFacts &then_facts = change_.base.at(id).facts, &now_facts = change_.head.state.at(id).facts;
    const auto renamed = renamed_samples(then_facts, now_facts);
    std::vector<PlannedCase> lost = base.planned.lost_in(head.planned, renamed);
    if (then_facts.draft && !now_facts.draft) std::erase_if(lost, &is_asked_of_drafts);
    if (lost.empty()) return;
    const std::set<std::string> samples_now = head.planned.samples();
    const auto then = base.planned.count(), now = head.planned.count();
    // What is missing altogether is reported once, and not by its cases.
    std::set<std::string> samples, dtypes, fewer;
    std::map<std::string, size_t> checks;
    size_t others = 0;
    std::string first;
    for (const PlannedCase& one : lost) {
      if (!now.contains(one.check)) {
        ++checks[one.check];
      } else if (!now.at(one.check).contains(one.dtype)) {
        dtypes.insert(one.dtype);
      } else if (!samples_now.contains(one.sample) && !renamed.contains(one.sample)) {
        samples.insert(one.sample);
      } else {
        ++others;
        fewer.insert(one.check);
        if (first.empty())
          first = fmt::format("{}/{}/{}/{}/{}/{}", id, one.dtype, one.sample, one.variant, device, one.check);
      }
    }
    if (!samples.empty())
      report_.refuse(id, fmt::format("{}: missing samples: `{}`", device, fmt::join(samples, "`, `")));
    for (const auto& [check, count] : checks)
      report_.refuse(id, fmt::format("{}: {} is no longer checked", device, check),
                     fmt::format("{} cases -> 0", count));
    if (!dtypes.empty())
      report_.refuse(id, fmt::format("{}: {} is no longer checked", device, fmt::join(dtypes, ", ")));
    if (others > 0) {
      report_.refuse(
          id, fmt::format("{}: {} cases of {} are no longer planned", device, others, fmt::join(fewer, ", ")),
          first);
    }
  }

  const Change& change_;
  RuleReport& report_;
};

void judge(const Change& change, RuleReport& report) { Losses(change, report).judge(); }

OPGATE_REGISTER_RULE(case_lost, {.name = "case.lost", .judge = &judge});

}  // namespace
}  // namespace opgate::case_lost
