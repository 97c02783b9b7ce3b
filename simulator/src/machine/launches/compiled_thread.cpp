#include "machine/launches/compiled_thread.h"

#include <cmath>

#include "machine/memory/memory.h"

namespace opgate::simulator {
namespace compiled_thread {

// Where the thread finds what belongs to its frame.
void set_frame(CompiledContext& context, Thread& thread) {
  context.function = &thread.function();
  context.initial = context.function->initial.data();
  context.registers = thread.registers;
  context.local = thread.local_memory().data();
  context.local_bytes = thread.local_memory().size();
  context.local_base = thread.local_base();
  context.end_of_registers = thread.end_of_registers();
  context.local_room = thread.local_memory().room();
  context.frames_left = thread.frames_left();
}

void set_thread(CompiledContext& context, Thread& thread) {
  context.block->grid().count(context.budget_before - context.budget);
  context.budget_before = context.budget;
  context.thread = &thread;
  set_frame(context, thread);
}

// The thread has the frames of all functions that compiled code has entered.
void settle(CompiledContext& context) {
  if (context.thread == nullptr) return;
  Thread& thread = *context.thread;
  for (; context.settled < context.calls; ++context.settled) {
    const std::uint64_t pending = context.pending[context.settled];
    thread.follow_call(*context.functions[pending >> 32], thread.function().code[pending & 0xffffffffu]);
  }
  thread.local_memory().set_size(context.local_bytes);
}

void unsettle(CompiledContext* context) {
  context->thread->follow_return();
  --context->settled;
}

std::uint64_t* begin(CompiledContext* context) {
  if (context->thread == nullptr) {
    const auto axis = [&](int i) { return static_cast<unsigned>(context->thread_index[i]); };
    Block& block = *context->block;
    const auto linear = static_cast<unsigned>(context->linear_index);
    set_thread(*context, context->together != kAlone ? block.running_thread(linear)
                                                     : block.begin_thread(linear, {axis(0), axis(1), axis(2)},
                                                                          /*has_registers=*/false));
  }
  return context->registers;
}

const Instruction& instruction_at(CompiledContext& context, std::uint64_t index, std::int64_t left) {
  begin(&context);
  settle(context);
  Thread& thread = *context.thread;
  const Instruction& instruction = thread.function().code[index];
  thread.next = &instruction + 1;
  context.left = left;
  return instruction;
}

void execute(CompiledContext* context, std::uint64_t index, std::int64_t left) {
  const Instruction& instruction = instruction_at(*context, index, left);
  ++context->left_to_interpreter;
  instruction.execute(*context->thread, instruction);
  context->local_bytes = context->thread->local_memory().size();
}

// The frame is that of the interpreter, so that a thread may be left anywhere in the function.
std::uint64_t call(CompiledContext* context, std::uint64_t index, std::int64_t left) {
  const Instruction& in = instruction_at(*context, index, left);
  Thread& thread = *context->thread;
  const Function& caller = thread.function();
  // A turn may end where a function begins.
  const bool begins = left > 0 && context->calls != kMostCalls;
  thread.call(caller.calls[static_cast<std::size_t>(in.immediate)]);
  // The slots of a thread move if there is not enough memory after them.
  if (context->together != kAlone) context->registers_of[context->linear_index] = thread.first_registers();
  context->next = kNextIsSet;
  set_frame(*context, thread);
  const CompiledFunction* const callee = context->function->compiled;
  if (!begins || callee == nullptr) return 0;
  const std::uint64_t calls = ++context->calls;
  context->settled = calls;
  callee->enter(context, left, 0);
  if (context->next != kReturns || context->calls != calls) return 0;
  settle(*context);
  thread.leave_function();
  context->calls = context->settled = calls - 1;
  set_frame(*context, thread);
  return 1;
}

std::uint64_t compute(CompiledContext* context, std::uint64_t index, std::uint64_t a, std::uint64_t b,
                      std::uint64_t c) {
  const Function& kernel = *context->function;
  const Instruction& in = kernel.code[index];
  if (context->scratch.size() < kernel.initial.size()) context->scratch.resize(kernel.initial.size());
  std::uint64_t* const registers = context->scratch.data();
  const std::uint64_t sources[] = {a, b, c};
  for (std::size_t i = 1; i < kernel.forms[index].total; ++i) registers[in.slots[i]] = sources[i - 1];
  Thread thread;
  thread.registers = registers;
  in.execute(thread, in);
  return registers[in.slots[0]];
}

template <Space space>
unsigned char* with_access(Thread& thread, const Instruction& in, std::uint64_t address, std::size_t bytes,
                           Access access) {
  switch (access) {
    case Access::load:
      return locate<space, Access::load>(thread, in, address, bytes);
    case Access::store:
      return locate<space, Access::store>(thread, in, address, bytes);
    case Access::atomic:
      break;
  }
  return locate<space, Access::atomic>(thread, in, address, bytes);
}

// What DeviceMemory has allowed is allowed again. An instruction always accesses as many bytes, so that its
// window begins at a multiple of them.
void remember(CompiledContext& context, const Instruction& in, std::uint64_t bytes) {
  const Window& window = context.block->grid().window(in.site);
  context.windows[in.site] = {window.begin, window.bytes / bytes,
                              reinterpret_cast<std::uintptr_t>(window.host) - window.begin};
}

unsigned char* find(CompiledContext* context, std::uint64_t index, std::int64_t left, std::uint64_t address,
                    std::uint64_t bytes, std::uint64_t how) {
  const Instruction& in = instruction_at(*context, index, left);
  Thread& thread = *context->thread;
  const auto access = static_cast<Access>(how & 3);
  const auto space = static_cast<Space>(how >> 2);
  switch (space) {
    case Space::shared:
      return with_access<Space::shared>(thread, in, address, bytes, access);
    case Space::local:
      return with_access<Space::local>(thread, in, address, bytes, access);
    case Space::parameter:
      return with_access<Space::parameter>(thread, in, address, bytes, access);
    case Space::global:
    case Space::generic:
      break;
  }
  unsigned char* const host = space == Space::global
                                  ? with_access<Space::global>(thread, in, address, bytes, access)
                                  : with_access<Space::generic>(thread, in, address, bytes, access);
  if (space == Space::global || space_of(address) == Space::global) remember(*context, in, bytes);
  return host;
}

void enter_kernel(CompiledContext& context) {
  context.calls = context.settled = 0;
  context.function = context.functions[0];
  context.initial = context.function->initial.data();
}

void enter(CompiledContext& context, Thread& thread, const CompiledFunction& function, std::uint64_t at) {
  context.budget = context.budget_before = 0;
  context.together = kAlone;
  set_thread(context, thread);
  context.calls = context.settled = 0;
  function.enter(&context, context.left, at);
  settle(context);
  take_next(context, thread);
}

}  // namespace compiled_thread

void take_next(const CompiledContext& context, Thread& thread) {
  if (context.next == kThreadExits) {
    thread.exit();
  } else if (context.next == kReturns) {
    thread.leave_function();
  } else if ((context.next & kAtCollective) != 0) {
    const Instruction& collective = thread.function().code[(context.next & kPlace) - 1];
    thread.next = &collective + 1;
    collective.execute(thread, collective);
  } else if (context.next >= kAtBarrier) {
    thread.next = thread.function().code.data() + (context.next & kPlace);
    thread.block->barrier(static_cast<unsigned>(context.next >> 33)).arrive({&thread}, std::nullopt);
  } else if (context.next != kNextIsSet) {
    thread.next = thread.function().code.data() + context.next;
  }
}

CompiledContext context_of(const Program& program, const Launch& launch) {
  CompiledContext context;
  context.initial = program.functions.front()->initial.data();
  context.block_extent[0] = launch.block.x;
  context.block_extent[1] = launch.block.y;
  context.begin = &compiled_thread::begin;
  context.parameters = const_cast<unsigned char*>(launch.parameters.data());
  context.parameter_bytes = launch.parameters.size();
  context.all_windows.resize(program.sites + 1);
  context.windows = context.all_windows.data();
  context.execute = &compiled_thread::execute;
  context.call = &compiled_thread::call;
  context.unsettle = &compiled_thread::unsettle;
  context.fill = launch.fill;
  for (const auto& function : program.functions) {
    context.all_functions.push_back(function.get());
    context.all_initials.push_back(function->initial.data());
  }
  context.functions = context.all_functions.data();
  context.initials = context.all_initials.data();
  context.locate = &compiled_thread::find;
  context.compute = &compiled_thread::compute;
  context.exp2 = &std::exp2;
  context.log2 = &std::log2;
  context.tanh = &std::tanh;
  return context;
}

void enter_block(CompiledContext& context, Block& block) {
  context.shared = block.shared();
  context.shared_bytes = block.shared_bytes();
  context.frame_values = block.frame_values();
  context.block = &block;
}

void run_fresh(CompiledContext& context, std::uint64_t first, std::uint64_t end, std::uint64_t budget,
               std::uint64_t reserve, std::int64_t turn) {
  const Extent& extent = context.block->launch().block;
  context.thread_index[0] = first % extent.x;
  context.thread_index[1] = first / extent.x % extent.y;
  context.thread_index[2] = first / extent.x / extent.y;
  context.linear_index = first;
  context.end_index = end;
  context.turn = context.left = turn;
  context.budget = context.budget_before = budget;
  context.reserve = reserve;
  context.together = kAlone;
  context.thread = nullptr;
  context.registers = nullptr;
  context.local = nullptr;
  context.local_bytes = 0;
  compiled_thread::enter_kernel(context);
  context.function->compiled->enter(&context, turn, kFreshThreads);
  compiled_thread::settle(context);
}

void run_together(CompiledContext& context, const Together& threads, std::uint64_t budget,
                  std::int64_t turn) {
  context.linear_index = threads.first;
  context.end_index = threads.end;
  context.together = threads.who;
  context.turn = context.left = turn;
  context.budget = context.budget_before = budget;
  context.thread = nullptr;
  compiled_thread::enter_kernel(context);
  context.function->compiled->enter(&context, turn, kThreadsTogether);
  compiled_thread::settle(context);
}

void run_compiled(CompiledContext& context, Thread& thread, std::int64_t& left) {
  using namespace compiled_thread;
  while (thread.state == Thread::State::running && (left > 0 || !thread.is_at_end_of_turn())) {
    const Function& function = thread.function();
    const auto at = static_cast<std::size_t>(thread.next - function.code.data());
    if (function.compiled != nullptr && function.compiled->begins[at]) {
      context.left = left;
      try {
        enter(context, thread, *function.compiled, at);
      } catch (const KernelFault&) {
        left = context.left;
        throw;
      }
      left = context.left;
      continue;
    }
    --left;
    ++context.left_to_interpreter;
    const Instruction& instruction = *thread.next++;
    if (instruction.guard >= 0 &&
        ((thread.registers[instruction.guard >> 1] ^ static_cast<std::uint64_t>(instruction.guard)) & 1) == 0)
      continue;
    instruction.execute(thread, instruction);
  }
}

}  // namespace opgate::simulator
