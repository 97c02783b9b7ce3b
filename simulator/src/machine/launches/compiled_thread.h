// Runs compiled code instead of the interpreter, for as long as it can go on.
#pragma once

#include <cstdint>

#include "machine/launches/compiled_code.h"
#include "machine/thread.h"
#include "ptx/types.h"

namespace opgate::simulator {

/// `how` of CompiledContext::locate.
constexpr std::uint64_t way_of(Space space, Access access) {
  return static_cast<std::uint64_t>(space) << 2 | static_cast<std::uint64_t>(access);
}

/// What is the same in all blocks of a launch.
CompiledContext context_of(const Program& program, const Launch& launch);

/// What is the same for all threads of a block.
void enter_block(CompiledContext& context, Block& block);

/// Runs threads of the block that have not begun, each for one turn, until one of them stops before its end
/// or the budget is nearly used up. The thread that has stopped is in `context.thread`.
void run_fresh(CompiledContext& context, std::uint64_t first, std::uint64_t end, std::uint64_t budget,
               std::uint64_t reserve, std::int64_t turn);

/// Threads of a block, and how they go on.
struct Together {
  std::size_t first = 0;
  std::size_t end = 0;
  std::uint64_t who = kBlockTogether;
};

/// Lets the threads go on, each from its stop to the next one, until one stops where it cannot meet the
/// others: that is then the thread of `context.linear_index`.
void run_together(CompiledContext& context, const Together& threads, std::uint64_t budget, std::int64_t turn);

/// What comes next in a thread that compiled code has left.
void take_next(const CompiledContext& context, Thread& thread);

/// Executes instructions until the turn of the thread ends, and counts down. Instructions at which compiled
/// code cannot be entered are interpreted.
void run_compiled(CompiledContext& context, Thread& thread, std::int64_t& left);

}  // namespace opgate::simulator
