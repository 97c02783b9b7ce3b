// Threads of a block that run in compiled code one after the other, from where they meet to where they meet
// again.
#include <algorithm>
#include <array>

#include "simulator/machine/block.h"
#include "simulator/machine/compiled_thread.h"
#include "simulator/machine/faults.h"
#include "simulator/machine/grid.h"

namespace opgate::simulator {

// Whether all of the threads stand where compiled code of the kernel can be entered, and would not stop at
// once.
bool Block::can_go_together(const Together& threads) const {
  const Function& kernel = *program().functions.front();
  const bool is_warp = threads.who == kWarpTogether;
  if (kernel.compiled == nullptr || kernel.compiled->waits_in_warps != is_warp) return false;
  if (is_warp ? threads.end - threads.first != kWarpSize : exited_ != 0) return false;
  if (grid_.left() / threads_.size() < grid_.reserve()) return false;
  for (std::size_t i = threads.first; i < threads.end; ++i) {
    const Thread& thread = threads_[i];
    if (thread.state != Thread::State::running || &thread.function() != &kernel ||
        !kernel.compiled->begins[static_cast<std::size_t>(thread.next - kernel.code.data())])
      return false;
  }
  return true;
}

// The threads run one after the other from meeting to meeting, until they do not all meet. They are left as
// if each had run by itself.
void Block::go_together(const Together& threads, int& turn) {
  const Instruction* const code = program().functions.front()->code.data();
  CompiledContext& context = grid_.context(*this);
  stops_.resize(threads_.size());
  registers_of_.resize(threads_.size());
  for (std::size_t i = threads.first; i < threads.end; ++i) {
    stops_[i] = static_cast<std::uint64_t>(threads_[i].next - code);
    registers_of_[i] = threads_[i].registers;
  }
  context.stops = stops_.data();
  context.registers_of = registers_of_.data();
  do {
    try {
      run_together(context, threads, grid_.left(), kTurnOfThread);
    } catch (const KernelFault&) {
      grid_.count(context.budget_before - context.budget +
                  static_cast<std::uint64_t>(kTurnOfThread - context.left));
      throw;
    }
    grid_.count(context.budget_before - context.budget);
  } while (context.linear_index == threads.end && meet_again(threads, turn));
  const std::size_t stopped = context.linear_index;
  const std::uint64_t next = context.next;
  for (std::size_t i = threads.first; i < stopped; ++i) settle_stop(i);
  for (std::size_t i = stopped + 1; i < threads.end; ++i) threads_[i].next = code + stops_[i];
  if (stopped == threads.end) return;
  context.next = next;
  take_turn(running_thread(stopped), context.left, /*is_entered=*/true);
  const std::size_t end_of_warp = std::min((stopped / kWarpSize + 1) * kWarpSize, threads.end);
  if (threads.who == kWarpTogether) {
    for (std::size_t i = stopped + 1; i < end_of_warp; ++i) run_thread(threads_[i]);
    return;
  }
  run_warp(stopped / kWarpSize * kWarpSize, stopped + 1);
  for (std::size_t first = end_of_warp; first < threads.end; first += kWarpSize) run_warp(first, first);
}

// Whether all of the threads have come to the same barrier or collective, so that they can go on at once.
bool Block::meet_again(const Together& threads, int& turn) {
  const std::uint64_t stop = stops_[threads.first];
  const bool is_collective = (stop & kAtCollective) != 0;
  if (threads.who == kWarpTogether && (!is_collective || turn + 1 == kTurnsOfWarp)) return false;
  for (std::size_t i = threads.first; i < threads.end; ++i) {
    if (stops_[i] == kThreadExits ||
        (is_collective ? stops_[i] != stop : (stops_[i] & ~kPlace) != (stop & ~kPlace)))
      return false;
  }
  if (grid_.left() / threads_.size() < grid_.reserve()) return false;
  for (std::size_t i = threads.first; i < threads.end; ++i) stops_[i] &= kPlace;
  if (is_collective) execute_together(threads);
  ++turn;
  return true;
}

void Block::execute_together(const Together& threads) {
  const Instruction* const next = program().functions.front()->code.data() + stops_[threads.first];
  std::array<Thread*, kWarpSize> lanes{};
  for (std::size_t lane = 0; lane < kWarpSize; ++lane) {
    lanes[lane] = &threads_[threads.first + lane];
    lanes[lane]->next = next;
  }
  // The first one finds out what they do.
  Thread& thread = running_thread(threads.first);
  next[-1].execute(thread, next[-1]);
  thread.state = Thread::State::running;
  thread.collective(lanes.data(), ~std::uint32_t{0});
}

void Block::settle_stop(std::size_t thread) {
  CompiledContext& context = grid_.context(*this);
  context.next = stops_[thread];
  take_next(context, threads_[thread]);
  if (threads_[thread].state == Thread::State::exited) ++exited_;
}

}  // namespace opgate::simulator
