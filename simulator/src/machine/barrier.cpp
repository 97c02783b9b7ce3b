#include "machine/barrier.h"

#include <algorithm>

#include "machine/block.h"
#include "machine/faults.h"
#include "machine/thread.h"

namespace opgate::simulator {

void Barrier::arrive(const Arrival& arrival, std::optional<unsigned> expected) {
  if (!arrivals_.empty() && expected != expected_)
    throw KernelFault{Fault::barrier, "threads of one barrier disagree on how many it is for"};
  expected_ = expected;
  arrivals_.push_back(arrival);
  if (arrival.waits) arrival.thread->state = Thread::State::at_barrier;
}

unsigned Barrier::arrived(const std::vector<Thread>& threads) const {
  std::vector<unsigned> of_warp((threads.size() + kWarpSize - 1) / kWarpSize, 0);
  for (const Arrival& arrival : arrivals_) ++of_warp[arrival.thread->linear / kWarpSize];
  unsigned all = 0;
  for (std::size_t warp = 0; warp < of_warp.size(); ++warp) {
    if (of_warp[warp] == 0) continue;
    const auto begin = threads.begin() + static_cast<std::ptrdiff_t>(warp * kWarpSize);
    const auto end =
        threads.begin() + static_cast<std::ptrdiff_t>(std::min(threads.size(), (warp + 1) * kWarpSize));
    const auto alive = std::count_if(begin, end, [](const Thread& thread) { return !thread.has_exited(); });
    all += of_warp[warp] >= static_cast<unsigned>(alive) ? kWarpSize : of_warp[warp];
  }
  return all;
}

bool Barrier::is_complete(const std::vector<Thread>& threads) const {
  if (arrivals_.empty()) return false;
  if (expected_) return arrived(threads) >= *expected_;
  const auto alive = std::count_if(threads.begin(), threads.end(),
                                   [](const Thread& thread) { return !thread.has_exited(); });
  return arrivals_.size() >= static_cast<std::size_t>(alive);
}

void Barrier::release() {
  const auto trues =
      std::count_if(arrivals_.begin(), arrivals_.end(), [](const Arrival& arrival) { return arrival.value; });
  const auto voters = std::count_if(arrivals_.begin(), arrivals_.end(), [](const Arrival& arrival) {
    return arrival.reduction != Reduction::none;
  });
  for (const Arrival& arrival : arrivals_) {
    if (!arrival.waits) continue;
    std::uint64_t& result = arrival.thread->registers[arrival.thread->current().slots[0]];
    if (arrival.reduction == Reduction::count) result = static_cast<std::uint64_t>(trues);
    if (arrival.reduction == Reduction::all) result = trues == voters ? 1 : 0;
    if (arrival.reduction == Reduction::any) result = trues != 0 ? 1 : 0;
    arrival.thread->state = Thread::State::running;
  }
  arrivals_.clear();
}

void Barrier::reset() { arrivals_.clear(); }

}  // namespace opgate::simulator
