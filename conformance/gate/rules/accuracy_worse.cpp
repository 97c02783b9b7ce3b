// accuracy.worse: the worst error is not larger than a factor times the accepted one, even if it is
// still within the tolerance.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/check_group.h"
#include "gate/rule.h"

namespace opgate::accuracy_worse {
namespace {

// Smaller errors are not compared. A correctly rounded result is off by up to half an ulp of the reference's,
// which is computed in Double. Where results are in Double, too, the reference's own rounding counts, and it
// is another on other processors: MKL's sine is.
double rounding_of(const std::string& dtype) {
  const bool is_double = dtype == "float64" || dtype == "complex128";
  return is_double ? 1 : 0.5;
}

// The bound that the spec promises for the errors of a check.
std::optional<double> limit_of(const SubjectFacts& facts, const std::string& check) {
  const auto& accuracy = group_of_check(check) == "grad" ? facts.gradient_accuracy : facts.accuracy;
  return accuracy ? accuracy->ulps : std::nullopt;
}

void judge_errors(const Change& change, const std::string& id, const std::string& device,
                  const DeviceState& base, const DeviceState& head, RuleReport& report) {
  const MachineResults *accepted = results_here(change, base), *measured = results_here(change, head);
  if (accepted == nullptr || measured == nullptr) return;
  const auto planned = base.planned.count();
  for (const auto& [check, by_dtype] : measured->worst) {
    const auto checked = planned.find(check);
    if (checked == planned.end()) continue;  // the base has no such cases
    for (const auto& [dtype, now] : by_dtype) {
      if (!checked->second.contains(dtype)) continue;
      const auto of_check = accepted->worst.find(check);
      const bool was_exact = of_check == accepted->worst.end() || !of_check->second.contains(dtype);
      const double rounding = rounding_of(dtype);
      const double then = std::max(rounding, was_exact ? 0 : of_check->second.at(dtype));
      const bool worse = now > change.accuracy_factor * then;
      const bool better = std::max(now, rounding) * change.accuracy_factor < then;
      if (!worse && !better) continue;
      std::string what = fmt::format("accuracy, {}, {}, {}: worst error {:.3g} -> {:.3g} ulps", device, dtype,
                                     check, then, now);
      const auto limit = limit_of(change.head.state.at(id).facts, check);
      if (limit && worse)
        what += fmt::format(" (limit {:.4g}, factor {:.3g})", *limit, change.accuracy_factor);
      const auto where = change.head.worst.find(fmt::format("{}/{}/{}/{}", id, device, check, dtype));
      report.add(worse ? Remark::Kind::refused : Remark::Kind::better, id, std::move(what),
                 where == change.head.worst.end() ? "" : where->second, device, {dtype});
    }
  }
}

void judge(const Change& change, RuleReport& report) {
  for_each_device(change,
                  [&](const std::string& id, const std::string& device, const DeviceState& base,
                      const DeviceState& head) { judge_errors(change, id, device, base, head, report); });
}

OPGATE_REGISTER_RULE(accuracy_worse, {.name = "accuracy.worse", .judge = &judge});

}  // namespace
}  // namespace opgate::accuracy_worse
