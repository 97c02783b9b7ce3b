// cp.async: copies from global to shared memory that a thread waits for later.
#include <algorithm>
#include <bit>

#include "instructions/effects.h"
#include "instructions/flows.h"
#include "instructions/select.h"
#include "instructions/selectors.h"
#include "machine/memory/memory.h"

namespace opgate::simulator {
namespace async_copies {

// How many of the bytes are read; the others become zeros.
enum class Reads : std::uint8_t { all, some, unless };

std::uint32_t bytes_to_read(const Thread& thread, const Instruction& in, Reads reads, std::uint32_t bytes) {
  if (reads == Reads::all) return bytes;
  if (reads == Reads::unless) return read<bool>(thread, in, 4) ? 0 : bytes;
  const auto given = read<std::uint32_t>(thread, in, 4);
  if (given <= bytes) return given;
  fail(in, Fault::trap, " of " + std::to_string(bytes) + " bytes that reads " + std::to_string(given));
}

// cp.async [to], [from], bytes, how many of them are read. Both sides are checked now; the copy happens
// later.
template <Reads reads>
void begin(Thread& thread, const Instruction& in) {
  const auto bytes = read<std::uint32_t>(thread, in, 3);
  if (bytes != 16 && bytes != 8 && bytes != 4)
    fail(in, Fault::trap, " of " + std::to_string(bytes) + " bytes");
  unsigned char* const to =
      locate<Space::shared, Access::store>(thread, in, address_of(thread, in, 0), bytes);
  const std::uint64_t from = read<std::uint64_t>(thread, in, 1) + read<std::uint64_t>(thread, in, 2);
  if (from % bytes != 0) report_misaligned(in, from, bytes);
  const std::uint32_t count = bytes_to_read(thread, in, reads, bytes);
  // What lies after the bytes that are read need not be accessible.
  std::uint32_t done = 0;
  while (done < count) {
    const std::uint32_t piece = std::bit_floor(count - done);
    const unsigned char* const host = locate<Space::global, Access::load>(thread, in, from + done, piece);
    thread.copies.begin({to + done, host, piece});
    done += piece;
  }
  if (done < bytes) thread.copies.begin({to + done, nullptr, bytes - done});
}

void commit(Thread& thread, const Instruction&) { thread.copies.commit(); }

void wait_for_groups(Thread& thread, const Instruction& in) {
  thread.copies.finish_groups(read<std::uint32_t>(thread, in, 0));
}

void wait_for_all(Thread& thread, const Instruction&) { thread.copies.finish_all(); }

Handler select_begin(Draft& draft) {
  Modifiers& modifiers = draft.modifiers;
  const bool has_policy = modifiers.has("L2::cache_hint");
  const bool keeps_nothing = modifiers.take("cg");
  if (!keeps_nothing && !modifiers.take("ca")) return nullptr;
  modifiers.take_hints();
  if (!modifiers.take("shared") && !modifiers.take("shared::cta")) return nullptr;
  if (!modifiers.take("global")) return nullptr;
  if (has_policy && draft.operands.size() > 3) draft.operands.pop_back();
  if (draft.operands.size() < 3 || draft.operands.size() > 4) return nullptr;
  if (!draft.is(0, Operand::Kind::address) || !draft.is(1, Operand::Kind::address)) return nullptr;
  if (draft.operands.size() == 3) return &begin<Reads::all>;
  return draft.operands[3].is_predicate ? &begin<Reads::unless> : &begin<Reads::some>;
}

}  // namespace async_copies

static Handler select_copy(Draft& draft) {
  using namespace async_copies;
  Modifiers& modifiers = draft.modifiers;
  if (!modifiers.take("async")) return nullptr;
  if (modifiers.take("bulk")) return select_bulk_copy(draft);
  if (modifiers.take("mbarrier")) return select_promised_arrival(draft);
  if (modifiers.take("commit_group")) return draft.operands.empty() ? &commit : nullptr;
  if (modifiers.take("wait_group")) return draft.operands.size() == 1 ? &wait_for_groups : nullptr;
  if (modifiers.take("wait_all")) return draft.operands.empty() ? &wait_for_all : nullptr;
  return select_begin(draft);
}

static Effect effect_of_copy(const Modifiers& words) {
  if (words.has("mbarrier")) return effect_of_mbarrier(words);
  // Copies in bulk access memory by another proxy.
  const bool is_bulk = words.has("bulk");
  if (words.has("commit_group") || words.has("prefetch"))
    return {.kind = Effect::Kind::ignored, .makes_visible = is_bulk};
  if (words.has("wait_group") || words.has("wait_all"))
    return {.kind = Effect::Kind::copy_wait, .makes_visible = is_bulk};
  if (!is_bulk) return {.kind = Effect::Kind::copy};
  if (words.has("multicast::cluster")) return {.kind = Effect::Kind::multicast_load, .makes_visible = true};
  const bool is_store = words.has("bulk_group");
  const bool is_tensor = words.has("tensor");
  return {.kind = is_tensor ? (is_store ? Effect::Kind::tensor_store : Effect::Kind::tensor_load)
                            : (is_store ? Effect::Kind::bulk_store : Effect::Kind::bulk_load),
          .space = words.has("global") && !is_store ? Space::global : Space::shared,
          .is_strong = words.has("reduce"),
          .makes_visible = true};
}

std::vector<OpcodeRow> opcodes_of_async_copies() {
  return {
      {"cp", {&select_copy, 0, 8, Result::none, Waits::never, &effect_of_copy, &flow_of_number}},
  };
}

}  // namespace opgate::simulator
