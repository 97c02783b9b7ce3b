// How instructions reach memory: an address of one of the spaces of PTX becomes one of the host.
#pragma once

#include <cstdint>

#include "machine/block.h"
#include "machine/faults.h"
#include "machine/launches/grid.h"
#include "machine/memory/shared_place.h"
#include "machine/slots.h"
#include "machine/thread.h"

namespace opgate::simulator {

[[noreturn]] void report_misaligned(const Instruction& in, std::uint64_t address, std::size_t bytes);
[[noreturn]] void report_outside(const Instruction& in, Space space, std::uint64_t address, std::size_t bytes,
                                 std::size_t size);

/// The place of `bytes` bytes at an address of shared memory, of which 32 bits count. Throws KernelFault.
SharedPlace place_in_shared(Thread& thread, const Instruction& in, std::uint64_t address, std::size_t bytes);

/// Where the host can access `bytes` bytes at an address of the space. Throws KernelFault.
template <Space space, Access access>
unsigned char* locate(Thread& thread, const Instruction& in, std::uint64_t address, std::size_t bytes) {
  if ((address & (bytes - 1)) != 0) report_misaligned(in, address, bytes);
  if constexpr (space == Space::global) {
    return thread.block->grid().global(in.site, address, bytes, access, *in.text);
  } else if constexpr (space == Space::generic) {
    switch (space_of(address)) {
      case Space::shared:
        return locate<Space::shared, access>(thread, in, address - kSharedWindow, bytes);
      case Space::local:
        return locate<Space::local, access>(thread, in, address - kLocalWindow, bytes);
      case Space::parameter:
        return locate<Space::parameter, access>(thread, in, address - kParameterWindow, bytes);
      default:
        return locate<Space::global, access>(thread, in, address, bytes);
    }
  } else {
    // The hardware looks at 32 bits of these addresses.
    const std::uint64_t offset = address & 0xffffffffu;
    unsigned char* begin = nullptr;
    std::size_t size = 0;
    if constexpr (space == Space::shared) {
      begin = thread.block->shared();
      size = thread.block->shared_bytes();
    } else if constexpr (space == Space::local) {
      begin = thread.local_memory().data();
      size = thread.local_memory().size();
    } else {
      if (access != Access::load) report_outside(in, space, offset, bytes, 0);
      const std::vector<unsigned char>& parameters = thread.block->launch().parameters;
      begin = const_cast<unsigned char*>(parameters.data());
      size = parameters.size();
    }
    if (offset + bytes > size) {
      if constexpr (space == Space::shared) {
        const SharedPlace place = place_in_shared(thread, in, offset, bytes);
        return place.block->shared() + place.offset;
      }
      report_outside(in, space, offset, bytes, size);
    }
    return begin + offset;
  }
}

/// The address that a memory operand of the instruction means.
inline std::uint64_t address_of(const Thread& thread, const Instruction& in, int operand) {
  return read<std::uint64_t>(thread, in, operand) + static_cast<std::uint64_t>(in.immediate);
}

/// The same of any instruction, wide or not.
inline std::uint64_t address_in(const Thread& thread, const Instruction& in, std::size_t operand) {
  return thread.registers[in.slot(operand)] + static_cast<std::uint64_t>(in.immediate);
}

}  // namespace opgate::simulator
