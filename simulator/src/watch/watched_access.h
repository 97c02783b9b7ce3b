// An access of a thread to memory, as the tools see it.
#pragma once

#include <cstdint>

#include "machine/cluster.h"
#include "machine/memory/memory.h"
#include "machine/thread.h"
#include "watch/annotations.h"

namespace opgate::simulator {

struct WatchedAccess {
  const Annotation* annotation = nullptr;
  Space space = Space::global;  ///< no longer generic
  std::uint64_t address = 0;    ///< in the space
  std::uint32_t thread = 0;     ///< in the block
  std::uint32_t element = 0;    ///< of a fragment: which one of the thread's part of the matrix
  std::uint32_t rank = 0;       ///< one more than that of the block whose shared memory it is; 0: its own

  /// The address as the thread names it, with the rank.
  std::uint64_t named() const { return address | std::uint64_t{rank} << kRankAt; }
};

/// An access of the thread to an address in the space of the annotation.
inline WatchedAccess access_to(const Thread& thread, const Annotation& how, std::uint64_t address) {
  WatchedAccess access{&how, how.space, address, thread.linear};
  if (access.space == Space::generic) {
    access.space = space_of(access.address);
    access.address -= window_of(access.space);
  }
  if (access.space != Space::global) access.address &= 0xffffffffu;
  if (access.space == Space::shared) {
    access.rank = static_cast<std::uint32_t>(access.address >> kRankAt);
    access.address &= kOffsetInBlock;
  }
  return access;
}

/// As messages name it.
inline const char* name_of(Space space) {
  return space == Space::shared ? "shared" : space == Space::local ? "local" : "global";
}

}  // namespace opgate::simulator
