// Threads of a block that run in compiled code one after the other, from where they meet to where they meet
// again.
#include <algorithm>
#include <array>

#include "machine/block.h"
#include "machine/faults.h"
#include "machine/launches/compiled_thread.h"
#include "machine/launches/grid.h"
#include "ptx/opcode.h"

namespace opgate::simulator {

// Whether all of the threads stand where compiled code of the kernel can be entered, and would not stop at
// once.
namespace {

bool stops_whole_warp(const Function& function, std::size_t at) {
  const Opcode* const opcode = function.forms[at].opcode;
  return opcode != nullptr && opcode->waits == Waits::for_warp && function.code[at].guard < 0;
}

}  // namespace

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
  if (!is_collective && releases_ + 1 >= kReleasesOfTurn) return false;  // run_turn() counts the last one
  for (std::size_t i = threads.first; i < threads.end; ++i) stops_[i] &= kPlace;
  if (is_collective)
    execute_together(threads, turn);
  else
    ++releases_;
  ++turn;
  return true;
}

// Where one instruction for the whole warp follows the other, compiled code has nothing to do in between.
void Block::execute_together(const Together& threads, int& turn) {
  const Function& kernel = *program().functions.front();
  execute_in_warp(threads.first, kernel.code[stops_[threads.first] - 1]);
  execute_those_behind(threads.first, turn);
  const auto next = static_cast<std::uint64_t>(threads_[threads.first].next - kernel.code.data());
  for (std::size_t i = threads.first; i < threads.end; ++i) stops_[i] = next;
}

// For a warp that has just executed an instruction as a whole.
void Block::execute_those_behind(std::size_t first, int& turn) {
  const Function& function = threads_[first].function();
  auto next = static_cast<std::size_t>(threads_[first].next - function.code.data());
  for (; turn + 2 < kTurnsOfWarp && stops_whole_warp(function, next) && grid_.left() >= kWarpSize; ++turn) {
    grid_.count(kWarpSize);
    execute_in_warp(first, function.code[next++]);
  }
}

// Whether all lanes of a warp execute an instruction next for which they would only stop to meet there, such
// as one `mma` after another.
bool Block::meets_at_next(std::size_t first, std::size_t end) const {
  const Thread& thread = threads_[first];
  if (observer_ != nullptr || thread.state != Thread::State::running) return false;
  const Function& function = thread.function();
  return stops_whole_warp(function, static_cast<std::size_t>(thread.next - function.code.data())) &&
         stands_together(first, end) && grid_.left() >= kWarpSize;
}

void Block::execute_next_together(std::size_t first, int& turn) {
  grid_.count(kWarpSize);
  execute_in_warp(first, *threads_[first].next);
  execute_those_behind(first, turn);
}

void Block::execute_in_warp(std::size_t first, const Instruction& collective) {
  std::array<Thread*, kWarpSize> lanes{};
  for (std::size_t lane = 0; lane < kWarpSize; ++lane) {
    lanes[lane] = &threads_[first + lane];
    lanes[lane]->next = &collective + 1;
  }
  // The first one finds out what they do.
  Thread& thread = running_thread(first);
  collective.execute(thread, collective);
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
