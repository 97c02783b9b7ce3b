#include "watch/race/clocks.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace opgate::simulator {

void BlockClocks::start(std::uint32_t block, std::size_t threads, const ClusterNumbers& clusters,
                        Acquisitions& acquisitions) {
  block_ = block;
  clusters_ = clusters;
  acquisitions_ = &acquisitions;
  time_ = base_ = 1;
  warp_bases_.assign((threads + 31) / 32, 1);
  // Most blocks leave nothing behind but clocks.
  if (!is_plain_ || threads_.size() != threads) threads_.assign(threads, {});
  clocks_.assign(threads, 1);
  arrived_.clear();
  acquired_ = nullptr;
  released_ = nullptr;
  has_others_ = has_fences_ = has_acquired_ = false;
  is_plain_ = true;
}

bool BlockClocks::knows(std::uint32_t thread, const AccessRecord& access) const {
  const Knowledge& own = threads_[thread];
  if (access.block == block_) {
    if (access.clock < base_) return true;
    if (access.thread() / 32 == thread / 32 && access.clock < warp_bases_[thread / 32]) return true;
    if (own.others != nullptr && access.clock < (*own.others)[access.thread()]) return true;
  }
  return has_acquired_ && acquisitions_->know(acquired_by(thread), clusters_, access);
}

View BlockClocks::view_of(std::uint32_t thread) const {
  const Knowledge& own = threads_[thread];
  return {block_, base_, thread / 32, warp_bases_[thread / 32], thread, clocks_[thread], own.others};
}

void BlockClocks::add_view(Clocks& clocks, const View& view) const {
  const auto at_least = [&](std::size_t thread, std::uint32_t clock) {
    clocks[thread] = std::max(clocks[thread], clock);
  };
  if (view.warp_base > base_) {
    const std::size_t end = std::min<std::size_t>(clocks.size(), (view.warp + 1) * 32);
    for (std::size_t thread = view.warp * 32; thread < end; ++thread) at_least(thread, view.warp_base);
  }
  if (view.others != nullptr) {
    for (std::size_t thread = 0; thread < clocks.size(); ++thread) at_least(thread, (*view.others)[thread]);
  }
  at_least(view.thread, view.own);
}

std::shared_ptr<const Release> BlockClocks::joined(
    std::span<const std::shared_ptr<const Release>> releases) const {
  auto all = std::make_shared<Release>();
  all->view.block = block_;
  Clocks clocks(threads_.size(), 0);
  const Clocks* last_others = nullptr;
  std::vector<const Acquired*> acquired;
  for (const std::shared_ptr<const Release>& release : releases) {
    View view = release->view;
    // Threads that have met know the same of the others.
    if (view.others.get() == last_others) view.others = nullptr;
    if (view.others != nullptr) last_others = view.others.get();
    add_view(clocks, view);
    all->view.base = std::max(all->view.base, view.base);
    acquired.push_back(release->acquired);
  }
  all->acquired = acquisitions_->joined(std::move(acquired));
  all->view.others = std::make_shared<const Clocks>(std::move(clocks));
  return all;
}

// What the fences of several threads have made ready, as if one had done it: these threads then meet.
std::shared_ptr<const Release> BlockClocks::combined(std::span<const std::uint32_t> threads) const {
  std::vector<std::shared_ptr<const Release>> releases;
  for (const std::uint32_t thread : threads) {
    const std::shared_ptr<const Release>& released = threads_[thread].released[kDevice];
    if (released != nullptr) releases.push_back(released);
  }
  if (releases.empty()) return nullptr;
  if (released_ != nullptr) releases.push_back(released_);
  return joined(releases);
}

void BlockClocks::acquire(std::uint32_t thread, const PendingRead& read, Scope scope) {
  threads_[thread].acquired =
      acquisitions_->with(acquired_by(thread), read.log, {read.length, scope, block_});
}

void BlockClocks::settle_pending(std::uint32_t thread) {
  auto& pending = threads_[thread].pending;
  for (const auto& [place, read] : pending) acquire(thread, read, Scope::device);
  pending.clear();
}

void BlockClocks::meet_all() {
  if (has_fences_ || has_acquired_) {
    std::vector<std::uint32_t> all(threads_.size());
    std::iota(all.begin(), all.end(), 0u);
    if (has_fences_) {
      if (auto release = combined(all)) released_ = std::move(release);
      for (Knowledge& thread : threads_) thread.released[kDevice] = nullptr;
      has_fences_ = false;
    }
    std::vector<const Acquired*> acquired;
    for (const std::uint32_t thread : all) {
      settle_pending(thread);
      acquired.push_back(acquired_by(thread));
      threads_[thread].acquired = nullptr;
    }
    acquired_ = acquisitions_->joined(std::move(acquired));
  }
  if (has_others_) {
    for (Knowledge& thread : threads_) thread.others = nullptr;
    has_others_ = false;
  }
  base_ = ++time_;
  std::fill(clocks_.begin(), clocks_.end(), time_);
}

// What the threads have acquired and made ready becomes that of each of them.
void BlockClocks::share(std::span<const std::uint32_t> threads) {
  if (has_acquired_) {
    std::vector<const Acquired*> acquired;
    for (const std::uint32_t thread : threads) {
      settle_pending(thread);
      acquired.push_back(acquired_by(thread));
    }
    const Acquired* const all = acquisitions_->joined(std::move(acquired));
    for (const std::uint32_t thread : threads) threads_[thread].acquired = all;
  }
  if (!has_fences_) return;
  const std::shared_ptr<const Release> release = combined(threads);
  if (release == nullptr) return;
  for (const std::uint32_t thread : threads) threads_[thread].released[kDevice] = release;
}

void BlockClocks::meet_in_warp(std::uint32_t warp, std::span<const std::uint32_t> threads) {
  share(threads);
  if (has_others_) {
    const std::shared_ptr<const Clocks>& first = threads_[threads.front()].others;
    const bool differ = std::any_of(threads.begin(), threads.end(),
                                    [&](std::uint32_t thread) { return threads_[thread].others != first; });
    if (differ) {
      Clocks clocks(threads_.size(), 0);
      for (const std::uint32_t thread : threads) add_view(clocks, view_of(thread));
      const auto shared = std::make_shared<const Clocks>(std::move(clocks));
      for (const std::uint32_t thread : threads) threads_[thread].others = shared;
    }
  }
  warp_bases_[warp] = ++time_;
  for (const std::uint32_t thread : threads) clocks_[thread] = time_;
}

void BlockClocks::arrive(std::uint32_t thread, unsigned barrier) {
  clocks_[thread] = ++time_;
  arrived_.push_back({barrier, view_of(thread), acquired_by(thread)});
}

void BlockClocks::meet(std::span<const std::uint32_t> threads, unsigned barrier) {
  share(threads);
  Clocks clocks(threads_.size(), 0);
  ++time_;
  for (const std::uint32_t thread : threads) {
    clocks_[thread] = time_;
    add_view(clocks, view_of(thread));
  }
  // They share what they have acquired.
  const Acquired* acquired = threads.empty() ? nullptr : acquired_by(threads.front());
  for (const Arrived& arrived : arrived_) {
    if (arrived.barrier != barrier) continue;
    add_view(clocks, arrived.view);
    acquired = acquisitions_->joined(acquired, arrived.acquired);
  }
  for (const std::uint32_t thread : threads) threads_[thread].acquired = acquired;
  std::erase_if(arrived_, [&](const Arrived& arrived) { return arrived.barrier == barrier; });
  const auto shared = std::make_shared<const Clocks>(std::move(clocks));
  for (const std::uint32_t thread : threads) threads_[thread].others = shared;
  has_others_ = true;
  is_plain_ = false;
}

std::shared_ptr<const Release> BlockClocks::snapshot(std::uint32_t thread, Scope scope) {
  clocks_[thread] = ++time_;
  acquisitions_->note_release(block_, time_);
  return std::make_shared<const Release>(Release{view_of(thread), acquired_by(thread), scope});
}

void BlockClocks::learn(std::uint32_t thread, const Release& release) {
  Knowledge& own = threads_[thread];
  if (own.others == nullptr) {
    own.others = release.view.others;
  } else if (own.others != release.view.others) {
    Clocks clocks = *release.view.others;
    for (std::size_t i = 0; i < clocks.size(); ++i) clocks[i] = std::max(clocks[i], (*own.others)[i]);
    own.others = std::make_shared<const Clocks>(std::move(clocks));
  }
  if (release.acquired != nullptr) {
    own.acquired = acquisitions_->joined(acquired_by(thread), release.acquired);
    has_acquired_ = true;
  }
  has_others_ = true;
  is_plain_ = false;
}

void BlockClocks::acquire_fence(std::uint32_t thread, Scope scope) {
  auto& pending = threads_[thread].pending;
  for (const auto& [place, read] : pending) acquire(thread, read, scope);
  // What a fence of the block has acquired, one of the device may acquire again.
  if (scope == Scope::device) pending.clear();
}

void BlockClocks::acquire(std::uint32_t thread, std::uint64_t place, Scope scope) {
  auto& pending = threads_[thread].pending;
  const auto [begin, end] = pending.equal_range(place);
  for (auto read = begin; read != end; ++read) acquire(thread, read->second, scope);
  if (scope == Scope::device) pending.erase(begin, end);
}

void BlockClocks::release_fence(std::uint32_t thread, Scope scope) {
  auto& released = threads_[thread].released;
  const auto of_scope = static_cast<std::size_t>(scope);
  released[of_scope] = snapshot(thread, scope);
  // Those of narrower scopes release no more than this one.
  for (std::size_t narrower = 0; narrower < of_scope; ++narrower) released[narrower] = nullptr;
  has_fences_ = true;
  is_plain_ = false;
}

void BlockClocks::acquire_now(std::uint32_t thread, const std::shared_ptr<const ReleaseLog>& log,
                              std::size_t length) {
  has_acquired_ = true;
  is_plain_ = false;
  acquire(thread, PendingRead{log, length}, Scope::device);
}

void BlockClocks::read(std::uint32_t thread, std::uint64_t place,
                       const std::shared_ptr<const ReleaseLog>& log) {
  has_acquired_ = true;
  is_plain_ = false;
  auto& pending = threads_[thread].pending;
  const auto [begin, end] = pending.equal_range(place);
  const auto known = std::find_if(begin, end, [&](const auto& read) { return read.second.log == log; });
  if (known != end) {
    known->second.length = log->length();
  } else {
    pending.emplace(place, PendingRead{log, log->length()});
  }
}

}  // namespace opgate::simulator
