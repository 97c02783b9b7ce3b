// An access of a thread to memory, as the tools see it.
#pragma once

#include <cstdint>

#include "machine/cluster.h"
#include "machine/memory.h"
#include "machine/thread.h"
#include "watch/annotations.h"

namespace opgate::simulator {

struct WatchedAccess {
  const Annotation* annotation = nullptr;
  Space space = Space::global;  ///< no longer generic
  /// In the space, as the thread names it: an address in shared memory may name a block of the cluster.
  std::uint64_t address = 0;
  std::uint32_t thread = 0;   ///< in the block
  std::uint32_t element = 0;  ///< of a fragment: which one of the thread's part of the matrix

  /// In the memory of the block that the address names.
  std::uint64_t address_in_owner() const {
    return space == Space::shared ? address & kOffsetInBlock : address;
  }
};

/// An access of the thread to an address in the space of the annotation.
inline WatchedAccess access_to(const Thread& thread, const Annotation& how, std::uint64_t address) {
  WatchedAccess access{&how, how.space, address, thread.linear};
  if (access.space == Space::generic) {
    access.space = space_of(access.address);
    access.address -= window_of(access.space);
  }
  if (access.space != Space::global) access.address &= 0xffffffffu;
  return access;
}

/// As messages name it.
inline const char* name_of(Space space) {
  return space == Space::shared ? "shared" : space == Space::local ? "local" : "global";
}

}  // namespace opgate::simulator
