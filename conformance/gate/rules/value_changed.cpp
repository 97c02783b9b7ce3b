// value.changed: an operator still computes the same function, whatever its spec says now.
#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "base/dtypes.h"
#include "compare/float_format.h"
#include "compare/value_summary.h"
#include "gate/broken.h"
#include "gate/rule.h"
#include "spec/subject_facts.h"

namespace opgate::value_changed {
namespace {

constexpr std::string_view kBetween = "; ";  // two results of a call

// Two correct results differ by no more than twice the tolerance that the base promised. An accuracy scaled
// by inputs allows larger errors than that of the result, by an amount that the summaries do not show.
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

// True if the base is a run in which the operator did not agree with its reference there: then other values
// are expected.
bool was_wrong(const Change& change, const std::string& case_id) {
  if (change.base_run == nullptr) return false;
  return std::ranges::any_of(change.base_run->broken, [&](const Broken& group) {
    return group.cases.contains(Broken::hash_of(case_id, Verdict::fail));
  });
}

// The element-wise difference that two correct results can have at most, in ulps.
double allowed_ulps(const SubjectFacts& facts) {
  if (!facts.accuracy) return kTwoResults * (kDraftUlps + 1);
  if (!facts.accuracy->ulps) return 0;
  return kTwoResults * ((facts.accuracy->scale.empty() ? 1 : kScaled) * *facts.accuracy->ulps + 1);
}

// A difference in ulps at the element, where the base promised an accuracy at the element.
double judged_ulps(const SubjectFacts& facts, const ResultDifference& difference) {
  return facts.accuracy && facts.accuracy->scale.empty() ? difference.ulps : difference.ulps_at_largest;
}

std::string in_words(const ResultDifference& difference) {
  return fmt::format("{} of {} elements differ from the base's, by up to {:.3g} ulps", difference.differing,
                     difference.total, difference.ulps);
}

// Cases of one operator and device, of which the first or the worst is shown.
struct Cases {
  size_t count = 0;
  double ulps = 0;
  std::string shown;

  void add(const std::string& text, double difference = 0) {
    if (count++ > 0 && difference <= ulps) return;
    shown = text;
    ulps = difference;
  }
};

class Comparing {
 public:
  Comparing(const Change& change, const std::string& id, const std::string& device, RuleReport& report)
      : change_(change), id_(id), device_(device), facts_(change.base.at(id).facts), report_(report) {}

  void compare(const DeviceState& base) {
    for (const auto& [sample, by_dtype] : base.values) {
      const RunState* head = run_on_base_sample(change_, id_, sample);
      if (head == nullptr) continue;
      const auto& devices = head->state.at(id_).devices;
      const auto device = devices.find(device_);
      if (device == devices.end()) continue;
      for (const auto& [dtype, text] : by_dtype) {
        const auto of_sample = device->second.values.find(sample);
        const bool has_values = of_sample != device->second.values.end() && of_sample->second.contains(dtype);
        compare_call(sample, dtype, text, has_values ? of_sample->second.at(dtype) : "", *head);
      }
    }
    refuse_changed();
    report_rounding();
  }

  void compare_reference(const DeviceState& base, const DeviceState& head) {
    Cases changed;
    for (const auto& [sample, by_dtype] : base.reference) {
      const auto of_sample = head.reference.find(sample);
      if (of_sample == head.reference.end() || run_on_base_sample(change_, id_, sample) != &change_.head)
        continue;
      for (const auto& [dtype, text] : by_dtype) {
        const auto found = of_sample->second.find(dtype);
        const auto known = dtype_from_name(dtype);
        if (found == of_sample->second.end() || !known) continue;
        if (!may_be_same(text, found->second, allowed_error(facts_, *known)))
          changed.add(fmt::format("{}: {} -> {}", case_of(sample, dtype), text, found->second));
      }
    }
    if (changed.count == 0) return;
    report_.note(id_, fmt::format("{}: the reference has other values for {} calls", device_, changed.count),
                 changed.shown);
  }

 private:
  std::string case_of(const std::string& sample, const std::string& dtype) const {
    return contiguous_call(id_, dtype, sample, device_) + "/value.reference";
  }

  void compare_call(const std::string& sample, const std::string& dtype, const std::string& then,
                    const std::string& now, const RunState& head) {
    const auto known = dtype_from_name(dtype);
    if (!known || was_wrong(change_, case_of(sample, dtype))) return;
    if (now.empty()) {
      // In the head's own run, the case that ended or raised is refused by its verdict.
      if (&head == change_.on_base_samples) lost_.add(case_of(sample, dtype));
      return;
    }
    const auto difference = change_.differences.find(contiguous_call(id_, dtype, sample, device_));
    if (difference == change_.differences.end()) {
      if (then != now && !may_be_same(then, now, allowed_error(facts_, *known)))
        changed_.add(fmt::format("{}: {} -> {}", case_of(sample, dtype), then, now));
      return;
    }
    const ResultDifference& far = difference->second;
    Cases& cases = judged_ulps(facts_, far) > allowed_ulps(facts_) ? changed_ : rounded_;
    if (far.differing > 0) cases.add(fmt::format("{}: {}", case_of(sample, dtype), in_words(far)), far.ulps);
  }

  void refuse_changed() {
    if (changed_.count > 0) {
      report_.refuse(id_,
                     fmt::format("{}: {} results have other values, by more than rounding: it computes "
                                 "another function",
                                 device_, changed_.count),
                     changed_.shown, device_);
    }
    if (lost_.count > 0) {
      report_.refuse(id_,
                     fmt::format("{}: {} calls that the base's spec has as samples, and this spec has not, "
                                 "return nothing any more",
                                 device_, lost_.count),
                     lost_.shown, device_);
    }
  }

  void report_rounding() {
    if (rounded_.count == 0) return;
    report_.note(id_, fmt::format("{}: {} results are rounded differently", device_, rounded_.count),
                 rounded_.shown, device_);
  }

  const Change& change_;
  const std::string& id_;
  const std::string& device_;
  const SubjectFacts& facts_;
  RuleReport& report_;
  Cases changed_, lost_, rounded_;
};

void judge(const Change& change, RuleReport& report) {
  for_each_device(change, [&](const std::string& id, const std::string& device, const DeviceState& base,
                              const DeviceState& head) {
    Comparing comparing(change, id, device, report);
    comparing.compare(base);
    comparing.compare_reference(base, head);
  });
}

OPGATE_REGISTER_RULE(value_changed, {.name = "value.changed", .judge = &judge});

}  // namespace
}  // namespace opgate::value_changed
