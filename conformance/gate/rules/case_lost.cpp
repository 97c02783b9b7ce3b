// case.lost: what was checked before is still checked: operators, devices, kernels, samples, checks,
// dtypes, cases.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "gate/rule.h"
#include "spec/subject_facts.h"

namespace opgate::case_lost {
namespace {

constexpr auto kRule = "case.lost";

template <class Map>
std::vector<std::string> lost_keys(const Map& base, const Map& head) {
  std::vector<std::string> lost;
  for (const auto& [key, value] : base) {
    if (!head.contains(key)) lost.push_back(key);
  }
  return lost;
}

class Losses {
 public:
  Losses(const Change& change, Remarks& remarks) : change_(change), remarks_(remarks) {}

  void judge() {
    if (!change_.partial) {
      for (const std::string& id : lost_keys(change_.base, change_.head.state))
        refuse(id, "the operator no longer has a spec");
    }
    for_each_subject(change_, [&](const std::string& id, const SubjectState& base, const SubjectState& head) {
      for (const std::string& device : lost_keys(base.devices, head.devices))
        refuse(id, fmt::format("is no longer promised on {}", device));
      judge_kernels(id, base.facts, head.facts);
    });
    for_each_device(change_, [&](const std::string& id, const std::string& device, const DeviceState& base,
                                 const DeviceState& head) { judge_cases(id, device, base, head); });
  }

 private:
  void refuse(const std::string& id, std::string what, std::string shown = "") {
    remarks_.push_back({Remark::Kind::refused, kRule, id, std::move(what), std::move(shown)});
  }

  // A build without any CUDA kernel was made without nvcc: its CUDA cases are owed, and no kernel is lost.
  bool built_without(const std::string& kernel) const {
    return kernel.find("CUDA") != std::string::npos &&
           std::ranges::none_of(change_.head.state, [](const auto& entry) {
             return std::ranges::find(entry.second.facts.kernels, "CUDA") != entry.second.facts.kernels.end();
           });
  }

  void judge_kernels(const std::string& id, const SubjectFacts& base, const SubjectFacts& head) {
    std::vector<std::string> lost;
    for (const std::string& kernel : base.kernels) {
      const bool present = std::ranges::find(head.kernels, kernel) != head.kernels.end();
      if (!present && !built_without(kernel)) lost.push_back(kernel);
    }
    if (!lost.empty()) {
      refuse(id, fmt::format("no longer has a kernel for {}", fmt::join(lost, ", ")),
             fmt::format("kernels {} -> {}", fmt::join(base.kernels, ", "), fmt::join(head.kernels, ", ")));
    }
  }

  void judge_cases(const std::string& id, const std::string& device, const DeviceState& base,
                   const DeviceState& head) {
    if (const auto samples = lost_keys(base.outputs, head.outputs); !samples.empty() && !head.outputs.empty())
      refuse(id, fmt::format("{}: missing samples: `{}`", device, fmt::join(samples, "`, `")));
    // Dtypes that are missing, and checks with fewer cases, are collected so that each is reported once.
    std::set<std::string> dtypes, fewer;
    std::string shown;
    for (const auto& [check, by_dtype] : base.cases) {
      const auto found = head.cases.find(check);
      if (found == head.cases.end()) {
        refuse(id, fmt::format("{}: {} is no longer checked", device, check),
               fmt::format("{} cases -> 0", total(by_dtype)));
        continue;
      }
      for (const auto& [dtype, count] : by_dtype) {
        const auto now = found->second.find(dtype);
        if (now == found->second.end()) {
          dtypes.insert(dtype);
        } else if (now->second < count && fewer.insert(check).second && shown.empty()) {
          shown = fmt::format("{}, {}: {} -> {}", check, dtype, count, now->second);
        }
      }
    }
    if (!fewer.empty())
      refuse(id, fmt::format("{}: {} has fewer cases", device, fmt::join(fewer, ", ")), shown);
    if (!dtypes.empty())
      refuse(id, fmt::format("{}: {} is no longer checked", device, fmt::join(dtypes, ", ")));
  }

  const Change& change_;
  Remarks& remarks_;
};

OPGATE_REGISTER_RULE(
    case_lost,
    {kRule,
     {"What was checked before is still checked: operators, devices, kernels, samples, checks, dtypes and "
      "cases.",
      "A check that does not run finds nothing: deleting a sample makes a failure go away without a fix.",
      "Restore what is missing. If the operator is really meant to lose it, tell its users, and run "
      "`opgate accept`.",
      "An overload that lost its CUDA kernel, and fell back to a composite kernel that nobody had tested."},
     [](const Change& change, Remarks& remarks) { Losses(change, remarks).judge(); }});

}  // namespace
}  // namespace opgate::case_lost
