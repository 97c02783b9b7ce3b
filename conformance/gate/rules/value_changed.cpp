// value.changed: an operator still computes the same function, whatever its spec says now.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "base/dtypes.h"
#include "compare/float_format.h"
#include "compare/value_summary.h"
#include "gate/rule.h"
#include "spec/subject_facts.h"

namespace opgate::value_changed {
namespace {

constexpr auto kRule = "value.changed";
constexpr std::string_view kBetween = "; ";  // two results of a call

// Two correct results differ by no more than twice the tolerance that the base promised. An accuracy scaled by
// inputs allows larger errors than that of the result, by an amount that the summaries do not show.
constexpr double kTwoResults = 2;
constexpr double kScaled = 16;
constexpr double kDraftUlps = 64;  // where nothing is promised

double allowed_error(const SubjectFacts& facts, c10::ScalarType dtype) {
  const double ulps = !facts.accuracy                 ? kDraftUlps
                      : !facts.accuracy->ulps         ? 0
                      : facts.accuracy->scale.empty() ? *facts.accuracy->ulps
                                                      : kScaled * *facts.accuracy->ulps;
  const auto format = float_format(c10::toRealValueType(dtype));
  return format ? kTwoResults * (ulps + 1) * ulp_at(1, *format) : 0;
}

bool may_be_same(std::string_view base, std::string_view head, double error) {
  while (true) {
    const auto base_end = base.find(kBetween), head_end = head.find(kBetween);
    const auto then = summary_from(base.substr(0, base_end)), now = summary_from(head.substr(0, head_end));
    // A result that one of the two specs leaves unspecified has no summary.
    if (then && now && !may_be_same_values(*then, *now, error)) return false;
    if (base_end == std::string_view::npos || head_end == std::string_view::npos) return base_end == head_end;
    base.remove_prefix(base_end + kBetween.size());
    head.remove_prefix(head_end + kBetween.size());
  }
}

// True where the base is a run in which the operator did not agree with its reference there: then other values
// are expected.
bool was_wrong(const Change& change, const std::string& case_id) {
  if (change.base_run == nullptr) return false;
  return std::ranges::any_of(change.base_run->broken, [&](const Broken& group) {
    return group.cases.contains(Broken::hash_of(case_id, Verdict::fail));
  });
}

struct Changed {
  size_t count = 0;
  std::string first, then, now;
};

void compare_values(const Change& change, const std::string& id, const std::string& device,
                    const DeviceState& base, const DeviceState& head, Remarks& remarks) {
  const SubjectFacts &then = change.base.at(id).facts, &now = change.head.state.at(id).facts;
  const auto changed = [&](const auto& base_values, const auto& head_values) {
    Changed all;
    for (const auto& [sample, by_dtype] : base_values) {
      const auto of_sample = head_values.find(sample);
      if (of_sample == head_values.end() || !same_arguments(then, now, sample)) continue;
      for (const auto& [dtype, text] : by_dtype) {
        const auto found = of_sample->second.find(dtype);
        const auto known = dtype_from_name(dtype);
        if (found == of_sample->second.end() || !known || found->second == text) continue;
        const std::string case_id =
            fmt::format("{}/{}/{}/contiguous/{}/value.reference", id, dtype, sample, device);
        if (may_be_same(text, found->second, allowed_error(then, *known)) || was_wrong(change, case_id))
          continue;
        if (all.count++ == 0) all = {1, case_id, text, found->second};
      }
    }
    return all;
  };
  const Changed values = changed(base.values, head.values);
  if (values.count > 0) {
    remarks.push_back(
        {Remark::Kind::refused, kRule, id,
         fmt::format("{}: {} results have other values, by more than rounding: it computes another "
                     "function",
                     device, values.count),
         fmt::format("{}: {} -> {}", values.first, values.then, values.now)});
  }
  if (const Changed reference = changed(base.reference, head.reference); reference.count > 0) {
    remarks.push_back(
        {Remark::Kind::note, kRule, id,
         fmt::format("{}: the reference has other values for {} calls", device, reference.count),
         fmt::format("{}: {} -> {}", reference.first, reference.then, reference.now)});
  }
}

OPGATE_REGISTER_RULE(
    value_changed,
    {kRule,
     {"Operators compute the same function as before: on the same arguments, results differ by no more than "
      "the "
      "tolerance that was promised before.",
      "A change that rewrites an operator together with its reference and tolerances agrees with itself.",
      "Give another function another name or overload. If the old values were wrong, say so in the change, "
      "and "
      "run `opgate accept`.",
      "A scale that was applied to the absolute value of its argument, in the kernel and in the reference."},
     [](const Change& change, Remarks& remarks) {
       for_each_device(
           change, [&](const std::string& id, const std::string& device, const DeviceState& base,
                       const DeviceState& head) { compare_values(change, id, device, base, head, remarks); });
     }});

}  // namespace
}  // namespace opgate::value_changed
