#include "runtime/launches/scheduled_launches.h"

#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>
#include <vector>

#include <opgate_sim/schedule.h>
#include "machine/block.h"
#include "machine/launches/scheduled_order.h"
#include "runtime/devices/settings.h"
#include "runtime/findings/report.h"

namespace opgate::simulator {
namespace scheduled_launches {

// A worker of OpGate counts the launches of each call from a number of its own beyond these.
constexpr std::uint64_t kLaunchesOfProgram = std::uint64_t{1} << 32;

// The numbers of the parts that a launch has followed. Never destroyed: it is used while the process ends.
std::set<std::size_t>& followed() {
  static auto* const only = new std::set<std::size_t>;
  return *only;
}

// Without those at the end that go by index in any case. `least_of_rest`: of those that follow.
std::vector<std::uint64_t> without_end_by_index(std::vector<std::uint64_t> order,
                                                std::uint64_t least_of_rest = ~std::uint64_t{0}) {
  for (; !order.empty() && order.back() < least_of_rest; order.pop_back()) least_of_rest = order.back();
  return order;
}

std::uint64_t least_outside(std::vector<std::uint64_t> indices) {
  std::ranges::sort(indices);
  std::uint64_t least = 0;
  for (const std::uint64_t index : indices) least += index == least ? 1 : 0;
  return least;
}

std::vector<unsigned> first_warps_of(const Launch& launch, std::size_t number_of_block) {
  const std::size_t threads = launch.block.count();
  const std::size_t warps = (threads + kWarpSize - 1) / kWarpSize;
  const BlockOrder order = warp_order(launch, warps, number_of_block);
  std::vector<std::uint64_t> all;
  for (std::size_t i = 0; i < warps; ++i) all.push_back(order.block(i));
  all = without_end_by_index(std::move(all));
  return {all.begin(), all.end()};
}

}  // namespace scheduled_launches

void follow_schedule(Launch& launch) {
  using namespace scheduled_launches;
  const std::vector<LaunchSchedule>& parts = settings().schedule;
  LaunchSchedule own;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const LaunchSchedule& part = parts[i];
    const bool is_meant =
        part.number == launch.number &&
        (part.kernel.empty() || part.kernel == name_in_schedule(readable_name(launch.kernel)));
    if (!is_meant) continue;
    if (const std::string wrong = misfit(part, launch); !wrong.empty()) {
      constexpr int kWrongSetUp = 2;
      report_notice(to_text({part}) + ": " + wrong);
      _exit(kWrongSetUp);
    }
    own = part;
    if (followed().insert(i).second) report_followed(to_text({part}));
  }
  launch.schedule = std::make_shared<const LaunchSchedule>(std::move(own));
}

void report_what_no_launch_followed() {
  if (has_report_file()) return;
  const std::vector<LaunchSchedule>& parts = settings().schedule;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (!scheduled_launches::followed().contains(i))
      report_notice("the process has no launch for the schedule `" + to_text({parts[i]}) + "`");
  }
}

std::string schedule_of(const Launch& launch, const Outcome& outcome, const Finding& finding) {
  using namespace scheduled_launches;
  if (launch.order_seed == 0 || launch.number >= kLaunchesOfProgram) return "";
  std::vector<Extent> meant{finding.place.block};
  if (finding.other && finding.other->kernel.empty() && finding.other->block != meant.front())
    meant.push_back(finding.other->block);
  LaunchSchedule schedule{launch.number, name_in_schedule(readable_name(launch.kernel)), {}, {}};
  std::size_t last = 0;
  for (const Extent& block : meant) {
    const auto begun = std::ranges::find(outcome.begun, block);
    if (begun == outcome.begun.end()) return "";  // it is one of very many
    const auto number = static_cast<std::size_t>(std::distance(outcome.begun.begin(), begun)) + 1;
    last = std::max(last, number);
    if (std::vector<unsigned> warps = first_warps_of(launch, number); !warps.empty())
      schedule.warps.push_back({block, std::move(warps)});
  }
  std::vector<std::uint64_t> order;
  for (std::size_t i = 0; i < last; ++i) order.push_back(linear_index(outcome.begun[i], launch.grid));
  const std::uint64_t behind = least_outside(order);
  for (const std::uint64_t block : without_end_by_index(std::move(order), behind))
    schedule.first.push_back(index_at(block, launch.grid));
  return schedule.first.empty() && schedule.warps.empty() ? "" : to_text({schedule});
}

}  // namespace opgate::simulator
