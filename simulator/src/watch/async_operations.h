// The asynchronous operations of a block that have begun and are not complete yet.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "instructions/wgmma.h"
#include "ptx/types.h"

namespace opgate::simulator {

class Thread;

/// Something that a thread has begun, and that happens at any time before it is complete.
struct AsyncOperation {
  std::uint64_t number = 0;  ///< no other operation of the block has it
  Thread* thread = nullptr;
  std::uint32_t site = 0;  ///< where it was begun
};

/// Bytes that lie side by side in the source and in the destination.
struct CopyPiece {
  std::uint64_t to = 0;
  std::uint64_t from = 0;
  std::uint32_t bytes = 0;  ///< that are written
  std::uint32_t bytes_read = 0;
};

struct WatchedCopy : AsyncOperation {
  Space to_space = Space::shared;
  Space from_space = Space::global;
  std::vector<CopyPiece> pieces;
  std::uint64_t end = 0;  ///< how many copies the thread had begun when it had begun this one
  bool reduces = false;   ///< and does not only write
  bool is_read = false;   ///< whether its thread has waited until the source was read
};

/// What happens to an object of `mbarrier` when copies are complete: those of a thread that has asked for an
/// arrival, or one that announces its bytes.
struct WatchedPromise {
  std::uint64_t place = 0;
  bool is_bulk = false;
  WatchedCopy copy;  ///< of the promise of a thread, only what it has in common with all operations
};

/// A product of `wgmma`. The first thread of a warp stands for what all of them read of shared memory.
struct WatchedProduct : AsyncOperation {
  std::uint64_t group = 0;
  std::vector<UnitOfProduct> units;  ///< that it reads
  bool has_begun = false;            ///< false while it reads for the first time
};

/// The products of a thread.
struct WatchedProducts {
  std::vector<WatchedProduct> begun;
  std::uint64_t groups = 0;
};

/// Those of one block.
struct AsyncOperations {
  std::map<Thread*, std::vector<WatchedCopy>> copies;       ///< of `cp.async`, in the order of their begin
  std::map<Thread*, std::vector<WatchedCopy>> bulk_copies;  ///< those of `cp.async.bulk` from shared memory
  std::map<const Thread*, WatchedProducts> products;
  std::vector<WatchedPromise> promises;
  std::uint64_t begun = 0;
  std::size_t exited = 0;  ///< threads
};

}  // namespace opgate::simulator
