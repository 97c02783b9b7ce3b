// How values that came from unwritten memory come from memory into registers, and back.
#include <algorithm>
#include <bit>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "instructions/selectors.h"
#include "instructions/wmma.h"
#include "watch/init/followed_values.h"
#include "watch/launch_watch.h"
#include "watch/places.h"

namespace opgate::simulator {
namespace followed_memory {

const char* name_of(Space space) {
  return space == Space::shared ? "shared" : space == Space::local ? "local" : "global";
}

}  // namespace followed_memory

// What a thread has loaded comes into its registers. If it is a row of a matrix, into those of its warp,
// later.
void LaunchWatch::take_in(BlockWatch& block, Thread& thread, const Instruction& instruction,
                          const Unwritten& read) {
  const Annotation& how = *instruction.annotation;
  thread.is_followed = true;
  if (how.lanes == 0) return;
  const unsigned each = how.bytes / how.lanes;
  const bool is_signed = opgate::simulator::is_signed(form_at(thread, instruction).effect.type);
  for (unsigned lane = 0; lane < how.lanes; ++lane) {
    const std::uint64_t bytes = read.bits >> (lane * each) & ((std::uint64_t{1} << each) - 1);
    std::uint64_t bits = followed_values::bits_of_bytes(bytes);
    if (is_signed && (bytes >> (each - 1) & 1) != 0) bits |= followed_values::kAll << (8 * each);
    value_in(block, thread, instruction.slot(lane)) = {bits, bits != 0 ? read.loads : 0};
  }
}

Unwritten LaunchWatch::stored_by(BlockWatch& block, const Thread& thread, const Instruction& instruction) {
  const Annotation& how = *instruction.annotation;
  Unwritten stored;
  for (unsigned lane = 0; lane < how.lanes; ++lane) {
    const Unwritten& value = value_in(block, thread, instruction.slot(lane + 1));
    const unsigned each = how.bytes / how.lanes;
    const std::uint64_t bytes = followed_values::bytes_of_bits(value.bits) & ((std::uint64_t{1} << each) - 1);
    stored.bits |= bytes << (lane * each);
    if (bytes != 0) stored.loads = loads_.joined(stored.loads, value.loads);
  }
  return stored;
}

// The elements of a thread's part of a matrix, as `wmma.load` and `wmma.store` have them: so many lie in a
// register, one behind the other. A factor has its elements twice.
void LaunchWatch::access_matrix(BlockWatch& block, Thread& thread, const Instruction& instruction) {
  const Annotation& annotation = *instruction.annotation;
  constexpr std::size_t kStoredAt = 2;
  const bool is_load = annotation.kind == Annotation::Kind::load;
  struct Element {
    unsigned number;
    unsigned bytes;
    Unwritten read;
  };
  std::vector<Element> unwritten;
  unsigned elements = 0;
  const auto slot_of = [&](unsigned element, unsigned bytes) {
    return instruction.slot((is_load ? 0 : kStoredAt) + element * bytes / std::max(bytes, 4u));
  };
  const auto first_bit_of = [](unsigned element, unsigned bytes) {
    return element * bytes % std::max(bytes, 4u) * 8;
  };
  for_each_element_of_wmma(thread, is_load, [&](unsigned number, std::uint64_t address, unsigned bytes) {
    Annotation element = annotation;
    element.bytes = static_cast<std::uint8_t>(bytes);
    WatchedAccess access = access_to(thread, element, address);
    elements = number + 1;
    if (!is_load && thread.is_followed) {
      const Unwritten& value = value_in(block, thread, slot_of(number, bytes));
      access.stored = {followed_values::bytes_of_bits(value.bits >> first_bit_of(number, bytes)) &
                           ((std::uint64_t{1} << bytes) - 1),
                       value.loads};
    }
    const Unwritten read = watch_access(block, thread, instruction, access);
    if (read.bits != 0) unwritten.push_back({number, bytes, read});
  });
  if (is_load && thread.is_followed) set_results(block, thread, instruction, {});
  for (const Element& element : unwritten) {
    thread.is_followed = true;
    const std::size_t registers = form_at(thread, instruction).results;
    for (unsigned at = element.number; at * element.bytes / std::max(element.bytes, 4u) < registers;
         at += elements) {
      Unwritten& value = value_in(block, thread, slot_of(at, element.bytes));
      value.bits |= followed_values::bits_of_bytes(element.read.bits) << first_bit_of(at, element.bytes);
      value.loads = loads_.joined(value.loads, element.read.loads);
    }
  }
}

Finding LaunchWatch::finding_of_load(const Thread& thread, const WatchedAccess& access,
                                     std::uint32_t unwritten) const {
  const char* const space = followed_memory::name_of(access.space);
  const int bytes = std::popcount(unwritten);
  Finding finding;
  finding.kind = Finding::Kind::init;
  finding.kernel = launch_.kernel;
  finding.message = *instruction_at(program_, access.annotation->site).text + " reads " +
                    std::to_string(bytes) + (bytes == 1 ? " byte of " : " bytes of ") + space +
                    " memory that was not written";
  finding.address = access.address + static_cast<std::uint64_t>(std::countr_zero(unwritten));
  finding.bytes = static_cast<std::size_t>(bytes);
  finding.space = space;
  finding.place = place_of(thread, access.annotation->site);
  return finding;
}

template <class Memory>
Unwritten LaunchWatch::meet_unwritten(Memory& memory, const Thread& thread, const WatchedAccess& access,
                                      std::uint32_t bytes) {
  // Where a kernel has stored them, the loads before it are meant.
  bool is_of_this = false;
  std::uint32_t loads = 0;
  for (std::uint32_t left = bytes; left != 0; left &= left - 1) {
    const std::uint32_t stored =
        memory.loads_of(access.address + static_cast<unsigned>(std::countr_zero(left)));
    is_of_this |= stored == 0;
    loads = loads_.joined(loads, stored);
  }
  if (is_of_this) {
    loads = loads_.joined(
        loads, loads_.meet(access.annotation->site, [&] { return finding_of_load(thread, access, bytes); }));
  }
  if (!loads_.may_report(loads)) return {};
  // An atomic access uses at once what it reads.
  const Annotation::Kind kind = access.annotation->kind;
  if (kind != Annotation::Kind::load) {
    use(thread, instruction_at(program_, access.annotation->site), {bytes, loads});
    return {};
  }
  return {bytes, loads};
}

template <class Memory>
std::uint32_t LaunchWatch::known_loads(Memory& memory, const WatchedAccess& access, std::uint32_t bytes) {
  std::uint32_t loads = 0;
  for (; bytes != 0; bytes &= bytes - 1) {
    const std::uint32_t stored =
        memory.loads_of(access.address + static_cast<unsigned>(std::countr_zero(bytes)));
    loads = loads_.joined(loads, stored != 0 ? stored : loads_.met(access.annotation->site));
  }
  return loads;
}

template <class Memory>
void LaunchWatch::store_unwritten(Memory& memory, const Thread& thread, const WatchedAccess& access) {
  if (!loads_.may_report(access.stored.loads)) return;
  if (access.space == Space::global && observer_.is_host_memory(access.address)) {
    use(thread, instruction_at(program_, access.annotation->site), access.stored);
  } else {
    memory.store_unwritten(access.address, access.stored);
  }
}

template Unwritten LaunchWatch::meet_unwritten(WrittenBits&, const Thread&, const WatchedAccess&,
                                               std::uint32_t);
template Unwritten LaunchWatch::meet_unwritten(WrittenMemory&, const Thread&, const WatchedAccess&,
                                               std::uint32_t);
template void LaunchWatch::store_unwritten(WrittenBits&, const Thread&, const WatchedAccess&);
template void LaunchWatch::store_unwritten(WrittenMemory&, const Thread&, const WatchedAccess&);
template std::uint32_t LaunchWatch::known_loads(WrittenBits&, const WatchedAccess&, std::uint32_t);

// What a call hands over keeps what is known of it.
void LaunchWatch::hand_over(BlockWatch& block, const Thread& thread, const std::vector<Argument>& from,
                            const FramePlace& source, const std::vector<Argument>& to,
                            const FramePlace& target) {
  std::vector<Unwritten>& values = block.values[thread.linear];
  for (std::size_t i = 0; i < std::min(from.size(), to.size()); ++i) {
    if (!from[i].in_register && !to[i].in_register)
      block.local[thread.linear].copy_unwritten(target.local + to[i].offset, source.local + from[i].offset,
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

// The size of `malloc`, or the pointer of `free`, matters itself.
void LaunchWatch::use_arguments(BlockWatch& block, Thread& thread, const Instruction& instruction) {
  if (instruction.execute == &execute_print) {
    use_printed(block, thread, instruction);
    return;
  }
  const WrittenBits& local = block.local[thread.linear];
  const Call& call = thread.function().calls[static_cast<std::size_t>(instruction.immediate)];
  for (const Argument& argument : call.arguments) {
    if (argument.in_register) {
      use(thread, instruction, value_in(block, thread, argument.slot));
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
void LaunchWatch::use_printed(BlockWatch& block, Thread& thread, const Instruction& instruction) {
  constexpr std::size_t kMostBetween = 8;  // bytes without a value, because of alignment
  const Call& call = thread.function().calls[static_cast<std::size_t>(instruction.immediate)];
  if (call.arguments.size() < 2 || call.arguments[1].in_register) return;
  std::uint64_t address = 0;
  std::memcpy(&address, thread.local_memory().data() + thread.local_base() + call.arguments[1].offset,
              sizeof(address));
  const WrittenBits& local = block.local[thread.linear];
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
