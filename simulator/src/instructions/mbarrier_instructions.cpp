// mbarrier, for the threads of a block or of its cluster.
#include <algorithm>
#include <cstring>
#include <optional>

#include "instructions/effects.h"
#include "instructions/flows.h"
#include "instructions/select.h"
#include "instructions/selectors.h"
#include "machine/mbarrier.h"
#include "machine/memory/memory.h"

namespace opgate::simulator {
namespace mbarrier_instructions {

// What an arrival says with its last operand.
enum class Form : std::uint8_t { plain, with_count, announces, without_completion };

template <Space space>
SharedPlace place_at(Thread& thread, const Instruction& in, int operand) {
  return place_of_mbarrier<space>(thread, in, address_of(thread, in, operand));
}

// init [address], count
template <Space space>
void initialize(Thread& thread, const Instruction& in) {
  const SharedPlace place = place_at<space>(thread, in, 0);
  const auto count = read<std::uint32_t>(thread, in, 1);
  if (count == 0 || count > MBarrier::kMostCount)
    fail(in, Fault::trap, " with a count of " + std::to_string(count));
  MBarrier barrier;
  barrier.expected = barrier.pending = count;
  write_mbarrier(place, barrier);
}

template <Space space>
void invalidate(Thread& thread, const Instruction& in) {
  const SharedPlace place = place_at<space>(thread, in, 0);
  read_mbarrier(place, in);
  std::memset(place.block->shared() + place.offset, 0, sizeof(std::uint64_t));
}

// arrive state, [address], count, where the count may be missing, or be one of bytes that are announced.
template <Space space, bool drops, Form form>
void arrive_at(Thread& thread, const Instruction& in) {
  const SharedPlace place = place_at<space>(thread, in, 1);
  MBarrier barrier = read_mbarrier(place, in);
  write(thread, in, 0, barrier.packed());
  const std::uint32_t given = form == Form::plain ? 1 : read<std::uint32_t>(thread, in, 2);
  const std::uint32_t count = form == Form::announces ? 1 : given;
  if (form == Form::announces) expect_bytes(barrier, given, in);
  if (form == Form::without_completion && count >= barrier.pending && barrier.bytes == 0)
    fail(in, Fault::trap, " completes the phase");
  if (drops) barrier.expected -= std::min(count, barrier.expected);
  arrive(barrier, count, in);
  write_mbarrier(place, barrier);
}

// expect_tx [address], bytes
template <Space space, bool completes>
void count_bytes(Thread& thread, const Instruction& in) {
  const SharedPlace place = place_at<space>(thread, in, 0);
  MBarrier barrier = read_mbarrier(place, in);
  const std::int64_t bytes = read<std::uint32_t>(thread, in, 1);
  expect_bytes(barrier, completes ? -bytes : bytes, in);
  if (completes) barrier.complete_if_nothing_is_missing();
  write_mbarrier(place, barrier);
}

// test_wait and try_wait: predicate, [address], and the state that an arrival gave, or the parity of the
// phase. What has been promised to the object happens after the first look that was in vain.
template <Space space, bool by_parity>
void look(Thread& thread, const Instruction& in) {
  const SharedPlace place = place_at<space>(thread, in, 1);
  const MBarrier barrier = read_mbarrier(place, in);
  bool awaited = (read<std::uint32_t>(thread, in, 2) & 1) != 0;
  if constexpr (!by_parity) {
    MBarrier before;
    if (!before.unpack(read<std::uint64_t>(thread, in, 2)))
      fail(in, Fault::trap, " for a state that no arrival has given");
    awaited = before.phase;
  }
  const bool is_complete = barrier.phase != awaited;
  write<std::uint8_t>(thread, in, 0, is_complete ? 1 : 0);
  if (is_complete) return;
  place.block->promises().keep(place, in);
  thread.state = Thread::State::yields;
}

// pending_count count, state
void count_pending(Thread& thread, const Instruction& in) {
  MBarrier before;
  if (!before.unpack(read<std::uint64_t>(thread, in, 1)))
    fail(in, Fault::trap, " of a state that no arrival has given");
  write(thread, in, 0, before.pending);
}

// cp.async.mbarrier.arrive [address]: once all copies are done that the thread has begun.
template <Space space, bool adds>
void promise_arrival(Thread& thread, const Instruction& in) {
  const SharedPlace place = place_at<space>(thread, in, 0);
  MBarrier barrier = read_mbarrier(place, in);
  if (adds) {
    if (barrier.pending == MBarrier::kMostCount)
      fail(in, Fault::trap, ": more arrivals than an mbarrier counts");
    ++barrier.pending;
    write_mbarrier(place, barrier);
  }
  place.block->promises().add({place, &thread, thread.copies.begun(), {}, 0});
}

template <Space space, bool drops>
Handler select_arrival(Draft& draft) {
  const std::size_t operands = draft.operands.size();
  if (!draft.is(1, Operand::Kind::address) || operands > 3) return nullptr;
  if (draft.modifiers.take("expect_tx"))
    return operands == 3 ? &arrive_at<space, drops, Form::announces> : nullptr;
  if (draft.modifiers.take("noComplete"))
    return operands == 3 ? &arrive_at<space, drops, Form::without_completion> : nullptr;
  return operands == 3 ? &arrive_at<space, drops, Form::with_count> : &arrive_at<space, drops, Form::plain>;
}

template <Space space>
Handler select_look(Draft& draft) {
  const bool has_hint = draft.operands.size() == 4;
  if (has_hint) draft.operands.pop_back();
  if (!draft.is(1, Operand::Kind::address) || draft.operands.size() != 3) return nullptr;
  return draft.modifiers.take("parity") ? &look<space, true> : &look<space, false>;
}

template <Space space>
Handler select_in(Draft& draft) {
  Modifiers& modifiers = draft.modifiers;
  if (modifiers.take("arrive")) return select_arrival<space, false>(draft);
  if (modifiers.take("arrive_drop")) return select_arrival<space, true>(draft);
  if (modifiers.take("try_wait") || modifiers.take("test_wait")) return select_look<space>(draft);
  if (!draft.is(0, Operand::Kind::address)) return nullptr;
  if (modifiers.take("inval")) return draft.operands.size() == 1 ? &invalidate<space> : nullptr;
  if (draft.operands.size() != 2) return nullptr;
  if (modifiers.take("init")) return &initialize<space>;
  if (modifiers.take("expect_tx")) return &count_bytes<space, false>;
  return modifiers.take("complete_tx") ? &count_bytes<space, true> : nullptr;
}

std::optional<Space> take_shared_or_generic(Modifiers& modifiers) {
  const Space space = modifiers.take_space();
  if (space != Space::shared && space != Space::generic) return std::nullopt;
  return space;
}

}  // namespace mbarrier_instructions

static Handler select_mbarrier(Draft& draft) {
  using namespace mbarrier_instructions;
  Modifiers& modifiers = draft.modifiers;
  modifiers.take_hints();
  const std::optional<Space> space = take_shared_or_generic(modifiers);
  if (!space || modifiers.take_type() != Type::b64) return nullptr;
  if (modifiers.take("pending_count")) return draft.operands.size() == 2 ? &count_pending : nullptr;
  return *space == Space::shared ? select_in<Space::shared>(draft) : select_in<Space::generic>(draft);
}

Handler select_promised_arrival(Draft& draft) {
  using namespace mbarrier_instructions;
  Modifiers& modifiers = draft.modifiers;
  const std::optional<Space> space = take_shared_or_generic(modifiers);
  const bool adds = !modifiers.take("noinc");
  if (!modifiers.take("arrive") || !space || modifiers.take_type() != Type::b64) return nullptr;
  if (draft.operands.size() != 1 || !draft.is(0, Operand::Kind::address)) return nullptr;
  if (*space == Space::shared)
    return adds ? &promise_arrival<Space::shared, true> : &promise_arrival<Space::shared, false>;
  return adds ? &promise_arrival<Space::generic, true> : &promise_arrival<Space::generic, false>;
}

// The objects are those of the block's own shared memory.
Effect effect_of_mbarrier(const Modifiers& given) {
  using Kind = Effect::Kind;
  if (given.has("pending_count")) return {.kind = Kind::ignored};
  Modifiers words = given;
  Effect effect{.kind = Kind::store, .bytes = sizeof(std::uint64_t), .lanes = 0};
  effect.makes_visible = words.name() == "mbarrier" && (words.has("cluster") || words.has("shared::cluster"));
  effect.space = words.take_space();
  if (words.has("init") || words.has("inval")) return effect;
  effect.scope = Scope::block;
  effect.is_strong = true;
  const bool is_relaxed = words.has("relaxed");
  if (words.name() == "cp") {
    effect.kind = Kind::promise;
  } else if (words.has("test_wait") || words.has("try_wait")) {
    effect.kind = Kind::mbarrier_look;
    effect.operand = 1;
    effect.acquires = !is_relaxed;
  } else {
    effect.kind = Kind::mbarrier;
    const bool arrives = words.has("arrive") || words.has("arrive_drop");
    effect.operand = arrives ? 1 : 0;
    effect.releases = arrives && !is_relaxed;
  }
  return effect;
}

std::vector<OpcodeRow> opcodes_of_mbarriers() {
  return {
      {"mbarrier",
       {&select_mbarrier, 1, 4, Result::of_mbarrier, Waits::if_it_looks, &effect_of_mbarrier,
        &flow_of_effect}},
  };
}

}  // namespace opgate::simulator
