// What the tools must know of `wgmma`.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "machine/thread.h"

namespace opgate::simulator {

/// 16 bytes of shared memory that `wgmma.mma_async` reads for a warp: elements of some rows of `a`, counted
/// from the warp's first one, or of some columns of `b`.
struct UnitOfProduct {
  std::uint32_t address = 0;
  bool is_of_a = false;
  unsigned first = 0;
  unsigned count = 0;
};

/// Those that are read for the warp of the thread, which is at the instruction.
std::vector<UnitOfProduct> units_of_product(const Thread& thread, const Instruction& in);

/// Where an element of the sums lies: some bits of a register of a lane.
struct SumOfProduct {
  unsigned lane = 0;
  std::size_t operand = 0;
  std::uint64_t bits = 0;
  unsigned row = 0;
  unsigned column = 0;
};

void for_each_sum_of_product(const Instruction& in, const std::function<void(const SumOfProduct&)>& visit);

/// The operands of `a` if it lies in registers: the first one and the one after the last. Those with an odd
/// index hold rows that are eight further down. Equal if `a` lies in shared memory.
std::pair<std::size_t, std::size_t> registers_of_a(const Instruction& in);

/// Whether the product is added to what the sums are.
bool adds_to_sums(const Thread& thread, const Instruction& in);

/// The slots of the registers that the instruction uses until the warp has waited for it: the sums, and `a`
/// if it lies in registers.
std::vector<Slot> registers_of_product(const Instruction& in);

/// Whether after it no product of the thread is pending, in the slots of a new frame that are given.
bool waits_for_all_products(const Instruction& in, const OperandForm& form,
                            const std::vector<std::uint64_t>& initial);

}  // namespace opgate::simulator
