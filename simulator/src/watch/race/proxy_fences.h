// Which writes are visible to the async proxy, by which `wgmma` and copies in bulk read shared memory: those
// that come before a fence of a thread, if what reads comes after the fence.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "watch/race/clocks.h"
#include "watch/race/release_log.h"

namespace opgate::simulator {

/// The fences of the threads of one block.
class ProxyFences {
 public:
  void start(std::size_t threads) { fences_.assign(threads, {}); }

  /// `known`: what the thread knew when it executed the fence.
  void add(std::uint32_t thread, std::shared_ptr<const Release> known) {
    fences_[thread].push_back(std::move(known));
  }

  /// Whether a fence lies between the write, of the same block, and what the reader does now. Looks at the
  /// first fence of the writer behind the write, and at the last one of each other thread.
  bool order(const BlockClocks& clocks, const AccessRecord& write, std::uint32_t reader) const;

 private:
  using Fence = std::shared_ptr<const Release>;

  static bool is_between(const BlockClocks& clocks, const Fence& fence, const AccessRecord& write,
                         std::uint32_t reader);

  std::vector<std::vector<Fence>> fences_;
};

}  // namespace opgate::simulator
