// Threads of a warp that interpret instructions side by side: those that only compute registers of their
// thread, so that the order in which threads execute them cannot be seen.
#include "machine/block.h"
#include "machine/launches/grid.h"
#include "ptx/operand_form.h"

namespace opgate::simulator {
namespace {

// Few enough that one warp cannot take the time of the others.
constexpr std::uint64_t kMostSteps = 1 << 6;

// Without faults, before which other threads would have gone too far.
bool only_computes(const OperandForm& form) {
  return form.opcode != nullptr && form.results != 0 && form.waits == Waits::never &&
         form.effect.kind == Effect::Kind::none;
}

bool is_branch(const OperandForm& form) { return form.effect.kind == Effect::Kind::branch; }

}  // namespace

// Whether all threads of a whole warp are about to execute the same instruction.
bool Block::stands_together(std::size_t first, std::size_t end) const {
  if (end - first != kWarpSize) return false;
  const Instruction* const next = threads_[first].next;
  bool is_same = true;
  for (std::size_t i = first; i < end; ++i)
    is_same &= threads_[i].state == Thread::State::running && threads_[i].next == next;
  return is_same;
}

// Executes instructions for all threads of a warp, as long as they stand together, and returns how many each
// of them has executed. They are counted when a thread goes on: a fault of one before it would have kept it
// from executing them.
std::uint64_t Block::step_together(std::size_t first, std::size_t end) {
  const Function& function = threads_[first].function();
  auto at = static_cast<std::size_t>(threads_[first].next - function.code.data());
  const auto can_step = [&] { return only_computes(function.forms[at]) || is_branch(function.forms[at]); };
  if (!can_step() || !stands_together(first, end) || grid_.left() < (kMostSteps + 1) * kWarpSize) return 0;
  std::uint64_t steps = 0;
  for (; steps < kMostSteps && can_step(); ++steps) {
    const Instruction& instruction = function.code[at];
    if (is_branch(function.forms[at])) {
      const std::size_t left_out = count_of_left_out(first, instruction);
      if (left_out != 0 && left_out != kWarpSize) break;
      at = left_out == 0 ? static_cast<std::size_t>(instruction.immediate) : at + 1;
    } else {
      for (std::size_t i = first; i < end; ++i) {
        Thread& thread = running_thread(i);
        thread.next = &instruction + 1;
        if (!thread.leaves_out(instruction)) instruction.execute(thread, instruction);
      }
      ++at;
    }
  }
  for (std::size_t i = first; i < end; ++i) threads_[i].next = function.code.data() + at;
  return steps;
}

std::size_t Block::count_of_left_out(std::size_t first, const Instruction& instruction) const {
  std::size_t count = 0;
  for (std::size_t i = first; i < first + kWarpSize; ++i)
    count += threads_[i].leaves_out(instruction) ? 1 : 0;
  return count;
}

}  // namespace opgate::simulator
