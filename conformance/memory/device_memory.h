// Guarded memory of a device other than the CPU. It lives in a library of its own, which registers it with
// guard::add() when the device is first used; from then on the functions in guard:: cover its blocks, too.
#pragma once

#include <vector>

#include "memory/guard_allocator.h"

namespace opgate {

class DeviceMemory {
 public:
  virtual ~DeviceMemory() = default;

  /// Sets the poison of blocks that are allocated from now on.
  virtual void use(const Poison& poison) = 0;

  /// Blocks with this serial or a later one that are alive, in any order.
  virtual std::vector<Block> alive_since(uint64_t serial) = 0;

  /// Waits for the device, then returns the damage around blocks with this serial or a later one, and
  /// repairs it. Throws c10::Error if a kernel failed.
  virtual std::vector<Damage> take_damage_since(uint64_t serial) = 0;
};

namespace guard {

/// Registers the memory of a device. Call it once in a process.
void add(DeviceMemory& memory);

/// Takes the serial for a new block of a DeviceMemory. All devices and the CPU share one count.
uint64_t take_serial();

}  // namespace guard
}  // namespace opgate
