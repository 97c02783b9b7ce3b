#include "cli/simulation/shortest_schedule.h"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace opgate {
namespace {

using simulator::Extent;
using simulator::LaunchSchedule;

// What a schedule names: a block that begins early, or a warp of a block that goes early.
struct Named {
  Extent block;
  std::optional<unsigned> warp;
};

using AllNamed = std::vector<Named>;

AllNamed named_by(const LaunchSchedule& schedule) {
  AllNamed all;
  for (const Extent& block : schedule.first) all.push_back({block, {}});
  for (const simulator::WarpsOfBlock& warps : schedule.warps)
    for (const unsigned warp : warps.first) all.push_back({warps.block, warp});
  return all;
}

class Search {
 public:
  Search(const LaunchSchedule& seen, const Shows& shows) : seen_(seen), shows_(shows) {}

  bool holds(const AllNamed& named) const { return shows_(schedule_of(named)); }

  LaunchSchedule schedule_of(const AllNamed& named) const {
    LaunchSchedule schedule{seen_.number, seen_.kernel, {}, {}};
    for (const Named& each : named) {
      if (!each.warp) {
        schedule.first.push_back(each.block);
        continue;
      }
      if (schedule.warps.empty() || schedule.warps.back().block != each.block)
        schedule.warps.push_back({each.block, {}});
      schedule.warps.back().first.push_back(*each.warp);
    }
    return schedule;
  }

  // Leaves out halves, quarters and so on, at last single ones, until none can be left out (Zeller and
  // Hildebrandt: Simplifying and isolating failure-inducing input, 2002).
  AllNamed without_the_needless(AllNamed named) const {
    for (std::size_t part = (named.size() + 1) / 2; part > 0;) {
      const bool is_less = leave_out_parts(named, part);
      if (part == 1 && !is_less) break;
      part = part == 1 ? 1 : (part + 1) / 2;
    }
    return named;
  }

 private:
  // Whether one could be left out. Something stays: that no schedule is needed has been tried before.
  bool leave_out_parts(AllNamed& named, std::size_t part) const {
    bool is_less = false;
    for (std::size_t begin = 0; begin < named.size() && named.size() > part;) {
      AllNamed rest = named;
      const std::size_t end = std::min(begin + part, named.size());
      rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(begin),
                 rest.begin() + static_cast<std::ptrdiff_t>(end));
      if (holds(rest)) {
        named = std::move(rest);
        is_less = true;
      } else {
        begin = end;
      }
    }
    return is_less;
  }

  const LaunchSchedule& seen_;
  const Shows& shows_;
};

}  // namespace

std::optional<LaunchSchedule> shortest_schedule(const LaunchSchedule& seen, const simulator::Finding& finding,
                                                const Shows& shows) {
  const Search search(seen, shows);
  const AllNamed all = named_by(seen);
  // That one of the two blocks of the finding comes first is enough for most.
  for (const Named& each : all) {
    const bool is_of_finding =
        each.block == finding.place.block || (finding.other && each.block == finding.other->block);
    if (all.size() > 1 && is_of_finding && !each.warp && search.holds({each}))
      return search.schedule_of({each});
  }
  if (!search.holds(all)) return std::nullopt;
  return search.schedule_of(search.without_the_needless(all));
}

}  // namespace opgate
