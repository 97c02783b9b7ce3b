// What decides which instruction comes next, and what ends a thread.
#include "instructions/effects.h"
#include "instructions/flows.h"
#include "instructions/select.h"
#include "instructions/selectors.h"
#include "machine/faults.h"
#include "machine/memory/memory.h"

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

static Effect effect_of_fence(const Modifiers& words) {
  const bool reaches_others = scope_of(words) != Scope::block;
  if (words.has("proxy")) {
    const bool orders_shared = words.has("async") && !words.has("global");
    return {.kind = orders_shared ? Effect::Kind::proxy_fence : Effect::Kind::ignored, .makes_visible = true};
  }
  const bool acquires = !words.has("release"), releases = !words.has("acquire");
  return {.kind = Effect::Kind::fence,
          .scope = scope_of(words),
          .acquires = acquires,
          .releases = releases,
          .makes_visible = releases && reaches_others};
}

static Effect effect_of_grid_dependency(const Modifiers& words) {
  return {.kind = words.has("wait") ? Effect::Kind::grid_wait : Effect::Kind::grid_trigger,
          .makes_visible = true};
}

std::vector<OpcodeRow> opcodes_of_control() {
  return {
      {"bra",
       {&select_branch, 0, kNotRead, Result::none, Waits::never, &effect_of<Effect::Kind::branch>,
        &flow_of_number}},
      {"ret",
       {&select_return, 0, 0, Result::none, Waits::never, &effect_of<Effect::Kind::leave_function>,
        &flow_of_number}},
      {"exit",
       {&select_exit, 0, 0, Result::none, Waits::never, &effect_of<Effect::Kind::leave_kernel>,
        &flow_of_number}},
      {"trap", {&select_trap, 0, 0, Result::none, Waits::never, &no_effect, &flow_of_number}},
      {"nanosleep",
       {&select_nanosleep, 1, 1, Result::none, Waits::otherwise, &effect_of<Effect::Kind::sleep>,
        &flow_of_number}},
      {{"membar", "fence"},
       {&select_no_effect, 0, kNotRead, Result::none, Waits::never, &effect_of_fence, &flow_of_number}},
      {{"prefetch", "prefetchu", "applypriority", "pmevent", "createpolicy", "setmaxnreg"},
       {&select_no_effect, 0, kNotRead, Result::none, Waits::never, &no_effect, &flow_of_number}},
      {"griddepcontrol",
       {&select_grid_dependency, 0, 0, Result::none, Waits::never, &effect_of_grid_dependency,
        &flow_of_number}},
  };
}

}  // namespace opgate::simulator
