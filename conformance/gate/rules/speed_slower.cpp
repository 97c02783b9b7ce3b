// speed.slower: an operator is no slower beside its baseline than it was, by intervals and not by one timing.
#include <fmt/format.h>

#include "gate/rule.h"

namespace opgate {
namespace {

constexpr auto kRule = "speed.slower";
// Intervals hold the noise of one measurement; that of another day, with another load, comes on top.
constexpr double kAnotherDay = 0.9;

std::string in_words(const ByDtype<double>& speed) {
  return fmt::format("{:.3g} ({:.3g} to {:.3g})", speed.at("ratio"), speed.at("low"), speed.at("high"));
}

void judge(const Change& change, Remarks& remarks) {
  for_each_device(change, [&](const std::string& id, const std::string& device, const DeviceState& base,
                              const DeviceState& head) {
    if (!measured_alike(change.base.at(id), change.head.state.at(id))) return;
    for (const auto& [name, then] : base.speed) {
      const auto found = head.speed.find(name);
      if (found == head.speed.end()) continue;
      const ByDtype<double>& now = found->second;
      const bool slower = now.at("high") < kAnotherDay * then.at("low");
      const bool faster = kAnotherDay * now.at("low") > then.at("high");
      if (!slower && !faster) continue;
      remarks.push_back({slower ? Remark::Kind::refused : Remark::Kind::better, kRule, id,
                         fmt::format("{} is {}: {} -> {} times the speed of its baseline", device,
                                     slower ? "slower" : "faster", in_words(then), in_words(now)),
                         name});
    }
  });
}

OPGATE_REGISTER_RULE(speed_slower,
                     {kRule, "a speed that fell by more than its interval and a tenth", &judge});

}  // namespace
}  // namespace opgate
