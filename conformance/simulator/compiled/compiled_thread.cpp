#include "simulator/compiled/compiled_thread.h"

#include <cmath>

#include "simulator/kernels/memory.h"

namespace opgate::simulator {
namespace compiled_thread {

const Instruction& instruction_at(CompiledContext& context, std::uint64_t index, std::uint64_t left) {
  Thread& thread = *context.thread;
  const Instruction& instruction = thread.function().code[index];
  thread.next = &instruction + 1;
  context.left = left;
  return instruction;
}

void execute(CompiledContext* context, std::uint64_t index, std::uint64_t left) {
  const Instruction& instruction = instruction_at(*context, index, left);
  instruction.execute(*context->thread, instruction);
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

unsigned char* find(CompiledContext* context, std::uint64_t index, std::uint64_t left, std::uint64_t address,
                    std::uint64_t bytes, std::uint64_t how) {
  const Instruction& in = instruction_at(*context, index, left);
  Thread& thread = *context->thread;
  const auto access = static_cast<Access>(how & 3);
  switch (static_cast<Space>(how >> 2)) {
    case Space::global:
      return with_access<Space::global>(thread, in, address, bytes, access);
    case Space::shared:
      return with_access<Space::shared>(thread, in, address, bytes, access);
    case Space::local:
      return with_access<Space::local>(thread, in, address, bytes, access);
    case Space::parameter:
      return with_access<Space::parameter>(thread, in, address, bytes, access);
    case Space::generic:
      break;
  }
  return with_access<Space::generic>(thread, in, address, bytes, access);
}

// A thread that begins finds out in compiled code what its registers hold.
bool can_enter(const CompiledFunction* function, const Thread& thread, std::uint64_t at) {
  return function != nullptr && (thread.is_fresh || function->begins[at]);
}

// Whether the thread has stopped for another reason than that too few instructions are left.
bool enter(CompiledContext& context, Thread& thread, const CompiledFunction& function, std::uint64_t at) {
  context.thread = &thread;
  context.registers = thread.registers;
  context.local = thread.local_memory().data();
  context.local_bytes = thread.local_memory().size();
  context.initial = thread.function().initial.data();
  if (thread.is_fresh) {
    context.thread_index[0] = thread.index.x;
    context.thread_index[1] = thread.index.y;
    context.thread_index[2] = thread.index.z;
    context.linear_index = thread.linear;
    at = kFreshThread;
    thread.is_fresh = false;
  }
  function.enter(&context, context.left, at);
  if (context.next == kThreadExits) {
    thread.state = Thread::State::exited;
  } else if (context.next != kNextIsSet) {
    thread.next = thread.function().code.data() + context.next;
    return false;
  }
  return true;
}

}  // namespace compiled_thread

CompiledContext context_of(const Launch& launch, Window* windows) {
  CompiledContext context;
  context.parameters = const_cast<unsigned char*>(launch.parameters.data());
  context.parameter_bytes = launch.parameters.size();
  context.windows = windows;
  context.execute = &compiled_thread::execute;
  context.locate = &compiled_thread::find;
  context.exp2 = &std::exp2;
  context.log2 = &std::log2;
  context.tanh = &std::tanh;
  return context;
}

void enter_block(CompiledContext& context, Block& block) {
  context.shared = block.shared();
  context.shared_bytes = block.shared_bytes();
  context.frame_values = block.frame_values();
}

void run_compiled(CompiledContext& context, Thread& thread, std::uint64_t& left) {
  using namespace compiled_thread;
  bool enough_left = true;
  while (left != 0 && thread.state == Thread::State::running) {
    const Function& function = thread.function();
    const auto at = static_cast<std::uint64_t>(thread.next - function.code.data());
    if (enough_left && can_enter(function.compiled, thread, at)) {
      context.left = left;
      try {
        enough_left = enter(context, thread, *function.compiled, at);
      } catch (const KernelFault&) {
        left = context.left;
        throw;
      }
      left = context.left;
      continue;
    }
    --left;
    const Instruction& instruction = *thread.next++;
    if (instruction.guard >= 0 &&
        ((thread.registers[instruction.guard >> 1] ^ static_cast<std::uint64_t>(instruction.guard)) & 1) == 0)
      continue;
    instruction.execute(thread, instruction);
  }
}

}  // namespace opgate::simulator
