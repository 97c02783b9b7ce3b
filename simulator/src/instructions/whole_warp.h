// Instructions with `.aligned`, which all threads of a warp execute together.
#pragma once

#include <cstdint>

#include "instructions/collectives.h"

namespace opgate::simulator {

/// Stops the thread until all of its warp have come to the instruction.
template <Collective collective>
void wait_for_whole_warp(Thread& thread, const Instruction&) {
  wait_in_warp(thread, ~std::uint32_t{0}, collective);
}

/// Throws unless all 32 lanes are there, and at the same instruction.
void require_whole_warp(Thread* const* lanes, std::uint32_t mask);

}  // namespace opgate::simulator
