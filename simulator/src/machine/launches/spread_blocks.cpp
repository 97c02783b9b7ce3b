#include "machine/launches/spread_blocks.h"

#include <algorithm>

namespace opgate::simulator {

std::vector<NextBlock> SpreadBlocks::take() {
  std::vector<NextBlock> taken;
  const std::lock_guard lock(mutex_);
  if (has_failed()) return taken;
  for (std::uint64_t left = std::min(at_once_, waiting_.left()); left > 0; --left)
    taken.push_back({waiting_.next(), ++begun_});
  std::ranges::reverse(taken);
  return taken;
}

void SpreadBlocks::fail(std::uint32_t number, Outcome fault) {
  const std::lock_guard lock(mutex_);
  if (is_behind_fault(number)) return;
  first_failed_ = number;
  fault_ = std::move(fault);
}

}  // namespace opgate::simulator
