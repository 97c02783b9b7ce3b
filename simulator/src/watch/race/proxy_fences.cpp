#include "watch/race/proxy_fences.h"

#include <algorithm>

namespace opgate::simulator {

bool ProxyFences::is_between(const BlockClocks& clocks, const Fence& fence, const AccessRecord& write,
                             std::uint32_t reader) {
  const View& view = fence->view;
  if (!view.knows(write.thread(), write.clock)) return false;
  if (view.thread == reader) return true;
  // The fence is the last thing that its thread did before the time of the view.
  return clocks.knows(
      reader, {view.block, view.own - 1, AccessRecord::who_and_how_of(view.thread, 0, AccessRecord::weak)});
}

bool ProxyFences::order(const BlockClocks& clocks, const AccessRecord& write, std::uint32_t reader) const {
  const std::vector<Fence>& own = fences_[write.thread()];
  const auto behind = std::partition_point(
      own.begin(), own.end(), [&](const Fence& fence) { return fence->view.own <= write.clock; });
  if (behind != own.end() && is_between(clocks, *behind, write, reader)) return true;
  const auto last_is_between = [&](const std::vector<Fence>& fences) {
    return !fences.empty() && is_between(clocks, fences.back(), write, reader);
  };
  return last_is_between(fences_[reader]) || std::any_of(fences_.begin(), fences_.end(), last_is_between);
}

}  // namespace opgate::simulator
