// How values that came from unwritten memory come from memory into registers, and back.
#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "instructions/selectors.h"
#include "watch/init/followed_values.h"
#include "watch/init/init_of_block.h"

namespace opgate::simulator {
// What a thread has loaded comes into its registers. If it is a row of a matrix, into those of its warp,
// later.
void InitOfBlock::take_in(Thread& thread, const Instruction& instruction, const Unwritten& read) {
  const Annotation& how = *instruction.annotation;
  thread.is_followed = true;
  if (how.lanes == 0) return;
  const unsigned each = how.bytes / how.lanes;
  const bool is_signed = opgate::simulator::is_signed(thread.function().form_of(instruction).effect.type);
  for (unsigned lane = 0; lane < how.lanes; ++lane) {
    const std::uint64_t bytes = read.bits >> (lane * each) & ((std::uint64_t{1} << each) - 1);
    std::uint64_t bits = followed_values::bits_of_bytes(bytes);
    if (is_signed && (bytes >> (each - 1) & 1) != 0) bits |= followed_values::kAll << (8 * each);
    value_in(thread, instruction.slot(lane)) = {bits, bits != 0 ? read.loads : 0};
  }
}

Unwritten InitOfBlock::stored_by(const Thread& thread, const Instruction& instruction) {
  const Annotation& how = *instruction.annotation;
  Unwritten stored;
  for (unsigned lane = 0; lane < how.lanes; ++lane) {
    const Unwritten& value = value_in(thread, instruction.slot(lane + 1));
    const unsigned each = how.bytes / how.lanes;
    const std::uint64_t bytes = followed_values::bytes_of_bits(value.bits) & ((std::uint64_t{1} << each) - 1);
    stored.bits |= bytes << (lane * each);
    if (bytes != 0) stored.loads = loads_.joined(stored.loads, value.loads);
  }
  return stored;
}

// A part of a matrix, as `wmma.load` and `wmma.store` have it: so many elements lie in a register, one after
// the other. A factor has its elements twice.
namespace followed_memory {

unsigned register_of(unsigned element, unsigned bytes) { return element * bytes / std::max(bytes, 4u); }

unsigned first_bit_of(unsigned element, unsigned bytes) { return element * bytes % std::max(bytes, 4u) * 8; }

}  // namespace followed_memory

Unwritten InitOfBlock::stored_element(const Thread& thread, const Instruction& instruction,
                                      const WatchedAccess& access) {
  constexpr std::size_t kStoredAt = 2;
  const unsigned bytes = access.annotation->bytes;
  const Unwritten& value =
      value_in(thread, instruction.slot(kStoredAt + followed_memory::register_of(access.element, bytes)));
  const std::uint64_t bits = value.bits >> followed_memory::first_bit_of(access.element, bytes);
  return {followed_values::bytes_of_bits(bits) & ((std::uint64_t{1} << bytes) - 1), value.loads};
}

void InitOfBlock::end_fragment(Thread& thread, const Instruction& instruction) {
  const bool is_load = instruction.annotation->kind == Annotation::Kind::load;
  if (is_load && thread.is_followed) set_results(thread, instruction, {});
  const std::size_t registers = thread.function().form_of(instruction).results;
  for (const Element& element : fragment_) {
    thread.is_followed = true;
    for (unsigned at = element.number; followed_memory::register_of(at, element.bytes) < registers;
         at += elements_) {
      Unwritten& value = value_in(thread, instruction.slot(followed_memory::register_of(at, element.bytes)));
      value.bits |= followed_values::bits_of_bytes(element.read.bits)
                    << followed_memory::first_bit_of(at, element.bytes);
      value.loads = loads_.joined(value.loads, element.read.loads);
    }
  }
  fragment_.clear();
}

// What a call hands over keeps what is known of it.
void InitOfBlock::hand_over(const Thread& thread, const std::vector<Argument>& from, const FramePlace& source,
                            const std::vector<Argument>& to, const FramePlace& target) {
  std::vector<Unwritten>& values = values_[thread.linear];
  for (std::size_t i = 0; i < std::min(from.size(), to.size()); ++i) {
    if (!from[i].in_register && !to[i].in_register)
      local_[thread.linear].copy_unwritten(target.local + to[i].offset, source.local + from[i].offset,
                                           std::min(from[i].bytes, to[i].bytes));
    if (!from[i].in_register || !to[i].in_register) continue;
    const std::size_t at = source.registers + static_cast<std::size_t>(from[i].slot);
    if (at >= values.size()) continue;
    const Unwritten value = values[at];
    const std::size_t there = target.registers + static_cast<std::size_t>(to[i].slot);
    values.resize(std::max(values.size(), there + 1));
    values[there] = value;
  }
}

// The thread's local memory grows by that of the function, in which only the arguments are written.
void InitOfBlock::call(Thread& thread, const Call& call, const FramePlace& caller) {
  const FramePlace called = FramePlace::of(thread);
  const std::vector<Argument>& arguments = thread.function().arguments;
  WrittenBits& local = local_[thread.linear];
  local.forget(caller.end_of_local, called.end_of_local);
  for (const Argument& argument : arguments) {
    if (!argument.in_register) local.mark(called.local + argument.offset, argument.bytes);
  }
  std::vector<Unwritten>& values = values_[thread.linear];
  values.resize(std::min(values.size(), called.registers));
  hand_over(thread, call.arguments, caller, arguments, called);
}

void InitOfBlock::return_from(Thread& thread, const Function& function, const FramePlace& called) {
  const Call& call = mark_results(thread, thread.current());
  hand_over(thread, function.results, called, call.results, FramePlace::of(thread));
}

void InitOfBlock::end_host_call(Thread& thread, const Instruction& instruction) {
  mark_results(thread, instruction);
}

const Call& InitOfBlock::mark_results(const Thread& thread, const Instruction& of_call) {
  const Call& call = thread.function().calls[static_cast<std::size_t>(of_call.immediate)];
  for (const Argument& result : call.results) {
    if (!result.in_register) local_[thread.linear].mark(thread.local_base() + result.offset, result.bytes);
  }
  return call;
}

// The size of `malloc`, or the pointer of `free`, matters itself.
void InitOfBlock::begin_host_call(Thread& thread, const Instruction& instruction) {
  if (instruction.execute == &execute_print) {
    use_printed(thread, instruction);
    return;
  }
  const WrittenBits& local = local_[thread.linear];
  const Call& call = thread.function().calls[static_cast<std::size_t>(instruction.immediate)];
  for (const Argument& argument : call.arguments) {
    if (argument.in_register) {
      use(thread, instruction, value_in(thread, argument.slot));
      continue;
    }
    for (std::size_t at = 0; at < argument.bytes; at += 4) {
      const std::size_t place = thread.local_base() + argument.offset + at;
      const std::uint32_t bytes = local.unwritten(place, 4);
      use(thread, instruction, {bytes, bytes == 0 ? 0 : local.loads_of(place)});
    }
  }
}

// The arguments of `printf`, which lie one behind the other where the second argument of the call points to.
void InitOfBlock::use_printed(Thread& thread, const Instruction& instruction) {
  constexpr std::size_t kMostBetween = 8;  // bytes without a value, because of alignment
  const Call& call = thread.function().calls[static_cast<std::size_t>(instruction.immediate)];
  if (call.arguments.size() < 2 || call.arguments[1].in_register) return;
  std::uint64_t address = 0;
  std::memcpy(&address, thread.local_memory().data() + thread.local_base() + call.arguments[1].offset,
              sizeof(address));
  const WrittenBits& local = local_[thread.linear];
  std::size_t between = 0;
  for (std::uint64_t at = address - kLocalWindow; between < kMostBetween && at < thread.local_memory().size();
       at += 4) {
    const std::uint32_t bytes = local.unwritten(at, 4);
    const std::uint32_t loads = bytes == 0 ? 0 : local.loads_of(at);
    between = bytes != 0 && loads == 0 ? between + 4 : 0;
    use(thread, instruction, {bytes, loads});
  }
}

}  // namespace opgate::simulator
