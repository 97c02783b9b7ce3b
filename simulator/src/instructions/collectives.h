// What the threads of a warp do together.
#pragma once

#include <cstdint>

#include "machine/thread.h"

namespace opgate::simulator {

/// Stops the thread until all threads of the mask that have not exited have come to the same kind of
/// instruction. Throws where the thread itself is not in the mask.
void wait_in_warp(Thread& thread, std::uint32_t mask, Collective collective);

/// For an instruction with `.aligned`: stops the thread until all of its warp have come to it.
template <Collective collective>
void wait_for_whole_warp(Thread& thread, const Instruction&) {
  wait_in_warp(thread, ~std::uint32_t{0}, collective);
}

/// Throws unless all 32 lanes are there, and at the same instruction.
void require_whole_warp(Thread* const* lanes, std::uint32_t mask);

}  // namespace opgate::simulator
