// Shuffles, votes and other instructions that threads of a warp execute together.
#include "instructions/collectives.h"

#include <algorithm>
#include <array>
#include <bit>
#include <optional>

#include "instructions/effects.h"
#include "instructions/flows.h"
#include "instructions/select.h"
#include "instructions/selectors.h"
#include "machine/faults.h"
#include "machine/memory/memory.h"

namespace opgate::simulator {

void wait_in_warp(Thread& thread, std::uint32_t mask, Collective collective) {
  if ((mask >> thread.lane & 1) == 0) {
    fail(thread.current(), Fault::trap,
         " for the lanes of mask " + hexadecimal(mask) + " by lane " + std::to_string(thread.lane) +
             ", which is not among them");
  }
  thread.collective = collective;
  thread.collective_mask = mask;
  thread.state = Thread::State::at_collective;
}

void require_whole_warp(Thread* const* lanes, std::uint32_t mask) {
  const Thread& first = *lanes[std::countr_zero(mask)];
  if (~mask != 0) {
    fail(first.current(), Fault::trap,
         " by " + std::to_string(std::popcount(mask)) + " of the 32 threads of a warp");
  }
  for (std::size_t lane = 1; lane < kWarpSize; ++lane) {
    if (lanes[lane]->next == first.next) continue;
    fail(first.current(), Fault::trap,
         " by threads of a warp that are at lines " + std::to_string(first.current().line) + " and " +
             std::to_string(lanes[lane]->current().line) + " of the PTX");
  }
}

namespace collectives {

// For each thread of the mask.
template <class Action>
void for_each(Thread* const* lanes, std::uint32_t mask, Action&& action) {
  for (; mask != 0; mask &= mask - 1) action(*lanes[std::countr_zero(mask)]);
}

template <Collective collective, int mask_operand>
void wait(Thread& thread, const Instruction& in) {
  wait_in_warp(thread, read<std::uint32_t>(thread, in, mask_operand), collective);
}

// For the threads that come to it together.
template <Collective collective>
void wait_for_active(Thread& thread, const Instruction&) {
  thread.collective = collective;
  thread.state = Thread::State::at_active_mask;
}

// shfl.sync d|p, a, b, c, mask

enum class Direction : std::uint8_t { up, down, butterfly, index };

// The lane to read from; without a value where it is outside of the segment, whose size and bound c gives.
std::optional<unsigned> source_lane(Direction direction, unsigned lane, std::uint32_t b, std::uint32_t c) {
  const unsigned by = b & 31;
  const unsigned segment = c >> 8 & 31;
  const unsigned first = lane & segment;
  const unsigned bound = first | (c & 31 & ~segment);
  switch (direction) {
    case Direction::up:
      if (lane < by + bound) return std::nullopt;
      return lane - by;
    case Direction::down:
      if (lane + by > bound) return std::nullopt;
      return lane + by;
    case Direction::butterfly:
      if ((lane ^ by) > bound) return std::nullopt;
      return lane ^ by;
    case Direction::index: {
      const unsigned from = first | (by & ~segment);
      if (from > bound) return std::nullopt;
      return from;
    }
  }
  return std::nullopt;
}

void shuffle(Thread* const* lanes, std::uint32_t mask) {
  std::array<std::uint32_t, kWarpSize> values{};
  for_each(lanes, mask, [&](const Thread& thread) {
    values[thread.lane] = read<std::uint32_t>(thread, thread.current(), 2);
  });
  for_each(lanes, mask, [&](Thread& thread) {
    const Instruction& in = thread.current();
    const auto from = source_lane(static_cast<Direction>(in.immediate), thread.lane,
                                  read<std::uint32_t>(thread, in, 3), read<std::uint32_t>(thread, in, 4));
    std::uint32_t value = values[from.value_or(thread.lane)];
    // The value of a lane that takes no part is undefined: the same as of memory that was not written.
    if (from && (mask >> *from & 1) == 0) value = thread.block->launch().fill * 0x01010101u;
    write(thread, in, 0, value);
    write<std::uint8_t>(thread, in, 1, from ? 1 : 0);
  });
}

// vote.sync d, predicate, mask

enum class Vote : std::uint8_t { all, any, uniform, ballot };

void vote(Thread* const* lanes, std::uint32_t mask) {
  std::uint32_t ballot = 0;
  for_each(lanes, mask, [&](const Thread& thread) {
    if (read<bool>(thread, thread.current(), 1)) ballot |= std::uint32_t{1} << thread.lane;
  });
  for_each(lanes, mask, [&](Thread& thread) {
    const Instruction& in = thread.current();
    std::uint32_t result = 0;
    switch (static_cast<Vote>(in.immediate)) {
      case Vote::all:
        result = ballot == mask ? 1 : 0;
        break;
      case Vote::any:
        result = ballot != 0 ? 1 : 0;
        break;
      case Vote::uniform:
        result = ballot == 0 || ballot == mask ? 1 : 0;
        break;
      case Vote::ballot:
        result = ballot;
        break;
    }
    write(thread, in, 0, result);
  });
}

// match.any.sync d, a, mask and match.all.sync d|p, a, mask

template <class T, bool all>
void match(Thread* const* lanes, std::uint32_t mask) {
  constexpr int kSource = all ? 2 : 1;
  std::array<T, kWarpSize> values{};
  for_each(lanes, mask,
           [&](const Thread& thread) { values[thread.lane] = read<T>(thread, thread.current(), kSource); });
  for_each(lanes, mask, [&](Thread& thread) {
    std::uint32_t equal = 0;
    for_each(lanes, mask, [&](const Thread& other) {
      if (values[other.lane] == values[thread.lane]) equal |= std::uint32_t{1} << other.lane;
    });
    const Instruction& in = thread.current();
    write(thread, in, 0, all && equal != mask ? 0u : equal);
    if constexpr (all) write<std::uint8_t>(thread, in, 1, equal == mask ? 1 : 0);
  });
}

// redux.sync d, a, mask

enum class Reducer : std::uint8_t { add, minimum, maximum, conjunction, disjunction, exclusive };

template <class T>
T reduced(T a, T b, Reducer reducer) {
  switch (reducer) {
    case Reducer::add:
      return static_cast<T>(static_cast<std::uint32_t>(a) + static_cast<std::uint32_t>(b));
    case Reducer::minimum:
      return std::min(a, b);
    case Reducer::maximum:
      return std::max(a, b);
    case Reducer::conjunction:
      return static_cast<T>(a & b);
    case Reducer::disjunction:
      return static_cast<T>(a | b);
    case Reducer::exclusive:
      return static_cast<T>(a ^ b);
  }
  return a;
}

template <class T>
void reduce(Thread* const* lanes, std::uint32_t mask) {
  std::optional<T> result;
  for_each(lanes, mask, [&](const Thread& thread) {
    const Instruction& in = thread.current();
    const T value = read<T>(thread, in, 1);
    result = result ? reduced(*result, value, static_cast<Reducer>(in.immediate)) : value;
  });
  for_each(lanes, mask, [&](Thread& thread) { write(thread, thread.current(), 0, *result); });
}

// elect.sync d|p, mask: one thread of the mask is chosen, the first here.
void elect(Thread* const* lanes, std::uint32_t mask) {
  const auto first = static_cast<std::uint32_t>(std::countr_zero(mask));
  for_each(lanes, mask, [&](Thread& thread) {
    write(thread, thread.current(), 0, first);
    write<std::uint8_t>(thread, thread.current(), 1, thread.lane == first ? 1 : 0);
  });
}

void active_mask(Thread* const* lanes, std::uint32_t mask) {
  for_each(lanes, mask, [&](Thread& thread) { write(thread, thread.current(), 0, mask); });
}

}  // namespace collectives

static Handler select_shuffle(Draft& draft) {
  using namespace collectives;
  Modifiers& modifiers = draft.modifiers;
  const std::optional<int> direction = modifiers.take_one({"up", "down", "bfly", "idx"});
  const bool has_mask = modifiers.take("sync");
  if (!direction || modifiers.take_type() != Type::b32 || draft.operands.size() != (has_mask ? 5 : 4))
    return nullptr;
  draft.instruction.immediate = *direction;
  draft.pair_results();
  return has_mask ? &wait<&shuffle, 5> : &wait_for_active<&shuffle>;
}

static Handler select_vote(Draft& draft) {
  using namespace collectives;
  Modifiers& modifiers = draft.modifiers;
  const std::optional<int> kind = modifiers.take_one({"all", "any", "uni", "ballot"});
  const bool has_mask = modifiers.take("sync");
  if (!kind || draft.operands.size() != (has_mask ? 3 : 2)) return nullptr;
  const Type type = modifiers.take_type();
  if (type != (static_cast<Vote>(*kind) == Vote::ballot ? Type::b32 : Type::pred)) return nullptr;
  draft.instruction.immediate = *kind;
  return has_mask ? &wait<&vote, 2> : &wait_for_active<&vote>;
}

static Handler select_match(Draft& draft) {
  using namespace collectives;
  Modifiers& modifiers = draft.modifiers;
  const bool all = modifiers.take("all");
  if ((!all && !modifiers.take("any")) || !modifiers.take("sync")) return nullptr;
  const bool wide = bytes_of(modifiers.take_type()) == 8;
  if (!all) return wide ? &wait<&match<std::uint64_t, false>, 2> : &wait<&match<std::uint32_t, false>, 2>;
  draft.pair_results();
  return wide ? &wait<&match<std::uint64_t, true>, 3> : &wait<&match<std::uint32_t, true>, 3>;
}

static Handler select_redux(Draft& draft) {
  using namespace collectives;
  Modifiers& modifiers = draft.modifiers;
  const std::optional<int> reducer = modifiers.take_one({"add", "min", "max", "and", "or", "xor"});
  if (!modifiers.take("sync") || !reducer) return nullptr;
  draft.instruction.immediate = *reducer;
  const Type type = modifiers.take_type();
  if (type == Type::s32) return &wait<&reduce<std::int32_t>, 2>;
  return type == Type::u32 || type == Type::b32 ? &wait<&reduce<std::uint32_t>, 2> : nullptr;
}

static Handler select_elect(Draft& draft) {
  if (!draft.modifiers.take("sync")) return nullptr;
  draft.pair_results();
  return &collectives::wait<&collectives::elect, 2>;
}

static Handler select_active_mask(Draft& draft) {
  return draft.modifiers.take_type() == Type::b32 ? &collectives::wait_for_active<&collectives::active_mask>
                                                  : nullptr;
}

std::vector<OpcodeRow> opcodes_of_collectives() {
  return {
      {"shfl", {&select_shuffle, 4, 5, Result::first, Waits::for_lanes, &no_effect, &flow_of_shuffle}},
      {"vote", {&select_vote, 2, 3, Result::first, Waits::for_lanes, &no_effect, &flow_of_vote}},
      {"match", {&select_match, 3, 3, Result::first, Waits::for_lanes, &no_effect, &flow_of_number}},
      {"redux", {&select_redux, 3, 3, Result::first, Waits::for_lanes, &no_effect, &flow_of_number}},
      {"elect", {&select_elect, 2, 2, Result::first, Waits::otherwise, &no_effect, &flow_of_number}},
      {"activemask",
       {&select_active_mask, 1, 1, Result::first, Waits::otherwise, &no_effect, &flow_of_number}},
  };
}

}  // namespace opgate::simulator
