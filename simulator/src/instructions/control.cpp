// What decides which instruction comes next, and what ends a thread.
#include "instructions/select.h"
#include "instructions/selectors.h"
#include "machine/faults.h"
#include "machine/memory.h"

namespace opgate::simulator {
namespace control {

// The immediate is the index of the instruction in the function.
void branch(Thread& thread, const Instruction& in) { thread.branch(in.immediate); }

void leave(Thread& thread, const Instruction&) { thread.leave_function(); }

void exit_thread(Thread& thread, const Instruction&) { thread.exit(); }

void trap(Thread&, const Instruction&) { throw KernelFault{Fault::trap, "trap"}; }

void wait_some_time(Thread& thread, const Instruction& in) {
  thread.block->grid().let_pass(read<std::uint32_t>(thread, in, 0));
  thread.state = Thread::State::yields;
}

}  // namespace control

static Handler select_branch(Draft& draft) {
  draft.modifiers.take("uni");
  return &control::branch;
}

static Handler select_return(Draft& draft) {
  draft.modifiers.take("uni");
  return &control::leave;
}

static Handler select_exit(Draft&) { return &control::exit_thread; }

static Handler select_trap(Draft&) { return &control::trap; }

// Launches run one after the other, so that there is nothing to wait for. The tools look at both forms.
static Handler select_grid_dependency(Draft& draft) {
  return draft.modifiers.take("wait") || draft.modifiers.take("launch_dependents") ? &execute_nothing
                                                                                   : nullptr;
}

static Handler select_nanosleep(Draft& draft) {
  return draft.modifiers.take_type() == Type::u32 ? &control::wait_some_time : nullptr;
}

// Fences order what threads do at once, and prefetches only save time: neither changes the result of threads
// that run one after the other. Their words need no reading, and their operands are not needed.
Handler select_no_effect(Draft& draft) {
  draft.modifiers.take_all();
  draft.operands.clear();
  return &execute_nothing;
}

void execute_nothing(Thread&, const Instruction&) {}

void execute_unsupported(Thread&, const Instruction& in) { throw KernelFault{Fault::unsupported, *in.text}; }

void execute_call(Thread& thread, const Instruction& in) {
  thread.call(thread.function().calls[static_cast<std::size_t>(in.immediate)]);
}

void execute_branch_table(Thread& thread, const Instruction& in) {
  const auto& table = thread.function().branch_tables[static_cast<std::size_t>(in.immediate)];
  const auto index = read<std::uint32_t>(thread, in, 0);
  if (index >= table.size())
    throw KernelFault{Fault::trap, "brx.idx with index " + std::to_string(index) + " of " +
                                       std::to_string(table.size()) + " targets"};
  thread.branch(table[index]);
}

void execute_clock(Thread& thread, const Instruction& in) {
  write(thread, in, 0, thread.block->grid().look_at_clock());
}

std::vector<OpcodeRow> opcodes_of_control() {
  return {
      {"bra", {&select_branch, 0, kNotRead, Result::none, Waits::never, Effect::branch}},
      {"ret", {&select_return, 0, 0, Result::none, Waits::never, Effect::leave_function}},
      {"exit", {&select_exit, 0, 0, Result::none, Waits::never, Effect::leave_kernel}},
      {"trap", {&select_trap, 0, 0, Result::none, Waits::never, Effect::none}},
      {"nanosleep", {&select_nanosleep, 1, 1, Result::none, Waits::otherwise, Effect::none}},
      {"membar", {&select_no_effect, 0, kNotRead, Result::none, Waits::never, Effect::fence}},
      {"fence", {&select_no_effect, 0, kNotRead, Result::none, Waits::never, Effect::fence}},
      {"prefetch", {&select_no_effect, 0, kNotRead, Result::none, Waits::never, Effect::none}},
      {"prefetchu", {&select_no_effect, 0, kNotRead, Result::none, Waits::never, Effect::none}},
      {"applypriority", {&select_no_effect, 0, kNotRead, Result::none, Waits::never, Effect::none}},
      {"pmevent", {&select_no_effect, 0, kNotRead, Result::none, Waits::never, Effect::none}},
      {"createpolicy", {&select_no_effect, 0, kNotRead, Result::none, Waits::never, Effect::none}},
      {"setmaxnreg", {&select_no_effect, 0, kNotRead, Result::none, Waits::never, Effect::none}},
      {"griddepcontrol",
       {&select_grid_dependency, 0, 0, Result::none, Waits::never, Effect::grid_dependency}},
  };
}

}  // namespace opgate::simulator
