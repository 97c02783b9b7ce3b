// Guarded memory of another device than the CPU. It lives in a library of its own, which adds it here when
// the device is first used; from then on everything in guard:: speaks of its blocks, too.
#pragma once

#include <vector>

#include "memory/guard_allocator.h"

namespace opgate {

class DeviceMemory {
 public:
  virtual ~DeviceMemory() = default;

  /// Poison of the blocks made from now on.
  virtual void use(const Poison& poison) = 0;

  /// Blocks with this serial or a later one that are alive, in any order.
  virtual std::vector<Block> alive_since(uint64_t serial) = 0;

  /// Damage around blocks with this serial or a later one, found after waiting for the device; mends it.
  /// Throws c10::Error where a kernel failed.
  virtual std::vector<Damage> take_damage_since(uint64_t serial) = 0;
};

namespace guard {

/// Once a process.
void add(DeviceMemory& memory);

/// The serial of a block that `memory` makes: one count for all devices.
uint64_t take_serial();

}  // namespace guard
}  // namespace opgate
