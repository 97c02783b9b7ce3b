// speed.slower: an operator is no slower than before, by confidence intervals and not by single timings.
// Where the base is a build, base and head are timed in turns; else their speeds relative to the spec's
// baseline are compared.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "gate/rule.h"

namespace opgate::speed_slower {
namespace {

// An interval covers the noise of one measurement. A measurement on another day, under another load,
// differs by more.
constexpr double kLedgerSpeedRatio = 0.9;

std::string in_words(const ByDtype<double>& speed) {
  return fmt::format("{:.3g} ({:.3g} to {:.3g})", speed.at("ratio"), speed.at("low"), speed.at("high"));
}

std::string in_words(const Measurement& measured) {
  return fmt::format("{:.3g} ({:.3g} to {:.3g})", measured.ratio, measured.interval.low,
                     measured.interval.high);
}

// Reports a bench that was slower, or faster, in both of its measurements.
void judge_pair(const SpeedPair& pair, RuleReport& report) {
  if (!pair.failed.empty()) {
    report.add(pair.in_base ? Remark::Kind::note : Remark::Kind::refused, pair.op,
               fmt::format("cannot be timed{}: {}", pair.in_base ? " in the base" : ", though the base can",
                           first_line(pair.failed)),
               pair.bench);
    return;
  }
  if (pair.measured.size() < 2) return;
  const bool slower = std::ranges::all_of(
      pair.measured, [](const Measurement& measured) { return measured.interval.high < kMinSpeedRatio; });
  const bool faster = std::ranges::all_of(
      pair.measured, [](const Measurement& measured) { return measured.interval.low > 1 / kMinSpeedRatio; });
  if (!slower && !faster) return;
  report.add(slower ? Remark::Kind::refused : Remark::Kind::better, pair.op,
             fmt::format("is {}: {} and {} times the speed of the base", slower ? "slower" : "faster",
                         in_words(pair.measured[0]), in_words(pair.measured[1])),
             pair.bench);
}

void judge(const Change& change, RuleReport& report) {
  for (const SpeedPair& pair : change.speeds) judge_pair(pair, report);
  for_each_device(change, [&](const std::string& id, const std::string& device, const DeviceState& base,
                              const DeviceState& head) {
    const MachineResults *accepted = results_here(change, base), *measured = results_here(change, head);
    if (accepted == nullptr || measured == nullptr) return;
    for (const auto& [name, then] : accepted->speed) {
      const auto found = measured->speed.find(name);
      if (found == measured->speed.end()) continue;
      const ByDtype<double>& now = found->second;
      const bool slower = now.at("high") < kLedgerSpeedRatio * then.at("low");
      const bool faster = kLedgerSpeedRatio * now.at("low") > then.at("high");
      if (!slower && !faster) continue;
      report.add(slower ? Remark::Kind::refused : Remark::Kind::better, id,
                 fmt::format("{} is {}: {} -> {} times the speed of its baseline", device,
                             slower ? "slower" : "faster", in_words(then), in_words(now)),
                 name);
    }
  });
}

OPGATE_REGISTER_RULE(speed_slower, {.name = "speed.slower", .judge = &judge});

}  // namespace
}  // namespace opgate::speed_slower
