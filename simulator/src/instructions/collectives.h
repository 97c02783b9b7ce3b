// What the threads of a warp do together.
#pragma once

#include <cstdint>

#include "machine/thread.h"

namespace opgate::simulator {

/// Stops the thread until all threads of the mask that have not exited have come to the same kind of
/// instruction. Throws where the thread itself is not in the mask.
void wait_in_warp(Thread& thread, std::uint32_t mask, Collective collective);

}  // namespace opgate::simulator
