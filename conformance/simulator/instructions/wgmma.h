// What the tools must know of `wgmma`.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "simulator/machine/thread.h"

namespace opgate::simulator {

/// The addresses in shared memory of the units of 16 bytes that `wgmma.mma_async` reads for the warp of the
/// thread, which is at the instruction.
std::vector<std::uint32_t> units_of_product(const Thread& thread, const Instruction& in);

/// The slots of the registers that the instruction uses until the warp has waited for it: the sums, and `a`
/// if it lies in registers.
std::vector<Slot> registers_of_product(const Instruction& in);

}  // namespace opgate::simulator
