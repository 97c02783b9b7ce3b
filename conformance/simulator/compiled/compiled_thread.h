// Runs compiled code in the place of the interpreter, for as long as it can go on.
#pragma once

#include <cstdint>

#include "simulator/compiled/compiled_code.h"
#include "simulator/kernels/thread.h"
#include "simulator/kernels/types.h"

namespace opgate::simulator {

/// `how` of CompiledContext::locate.
constexpr std::uint64_t way_of(Space space, Access access) {
  return static_cast<std::uint64_t>(space) << 2 | static_cast<std::uint64_t>(access);
}

/// What is the same in all blocks of a launch.
CompiledContext context_of(const Launch& launch, Window* windows);

/// What is the same for all threads of a block.
void enter_block(CompiledContext& context, Block& block);

/// Executes at most `left` instructions, and counts down. Wherever compiled code stops in the middle of a turn, the rest is
/// interpreted, so that threads take turns exactly as if everything were interpreted.
void run_compiled(CompiledContext& context, Thread& thread, std::uint64_t& left);

}  // namespace opgate::simulator
