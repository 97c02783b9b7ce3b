// What the tools remember of copies that have begun and not happened yet, and of the objects of `mbarrier`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

#include "instructions/wgmma.h"
#include "ptx/instruction.h"
#include "ptx/types.h"
#include "watch/init/unwritten_loads.h"
#include "watch/race/release_log.h"

namespace opgate::simulator {

class Thread;

/// A copy may happen at any time after it has begun and before somebody has waited for it.
struct WatchedCopy {
  Thread* thread = nullptr;  ///< that has begun it
  std::uint32_t site = 0;    ///< where
  Space to_space = Space::shared;
  std::uint64_t to = 0;
  std::uint32_t bytes = 0;  ///< that are written
  Space from_space = Space::global;
  std::uint64_t from = 0;
  std::uint32_t bytes_read = 0;
  std::uint64_t end = 0;                 ///< how many copies the thread had begun when it had begun this one
  bool reduces = false;                  ///< and does not only write
  bool is_read = false;                  ///< whether its thread has waited until the source was read
  std::shared_ptr<const Release> begin;  ///< what its thread knew; null if nothing looks for races
  std::vector<CarriedBytes> unwritten;   ///< of what is copied
};

/// What happens to an object of `mbarrier` when copies are complete: those of a thread that has asked for an
/// arrival, or one that announces its bytes.
struct WatchedPromise {
  std::uint64_t place = 0;
  bool is_bulk = false;
  std::vector<WatchedCopy>
      copies;  ///< of the promises of a thread, one with only `thread`, `end` and `begin`
};

struct WatchedBarrier {
  std::vector<std::shared_ptr<const Release>> arrived;  ///< in this phase
  std::shared_ptr<const Release> complete;              ///< all that arrived in the phase before
};

/// A product of `wgmma` that a thread has begun and not waited for. The first thread of a warp stands for
/// what all of them read of shared memory.
struct WatchedProduct {
  std::uint32_t site = 0;
  std::uint64_t group = 0;
  std::vector<UnitOfProduct> units;  ///< that it reads
  std::shared_ptr<const Release>
      begin;  ///< what the thread knew; null before that is asked, or if nothing looks for races
};

/// The latest product that a register belongs to.
struct RegisterInFlight {
  std::uint32_t site = 0;
  std::uint64_t group = 0;
  bool is_copy = false;  ///< of a register that the product names
};

/// Where a thread has used a register since its last `wgmma.fence`.
struct UsedRegister {
  std::uint32_t site = 0;
  bool is_written = false;
};

/// What is known of the products of a thread, and of the registers that they use.
struct WatchedProducts {
  std::vector<WatchedProduct> begun;
  std::uint64_t groups = 0;
  std::unordered_map<Slot, RegisterInFlight> in_flight;
  std::unordered_map<Slot, UsedRegister> used;  ///< since the last fence; a move is no use
  bool has_fence = false;
};

/// For one block.
struct AsyncWatch {
  std::map<Thread*, std::vector<WatchedCopy>> copies;       ///< of `cp.async`, in the order of their begin
  std::map<Thread*, std::vector<WatchedCopy>> bulk_copies;  ///< those of `cp.async.bulk` from shared memory
  std::map<const Thread*, WatchedProducts> products;
  std::vector<WatchedPromise> promises;
  std::unordered_map<std::uint64_t, WatchedBarrier> barriers;  ///< by their place in shared memory
  std::size_t exited = 0;                                      ///< threads
};

}  // namespace opgate::simulator
