// Instructions that take bits or bytes of several sources: lop3, prmt, shf.
#include <algorithm>

#include "instructions/effects.h"
#include "instructions/flows.h"
#include "instructions/select.h"
#include "instructions/selectors.h"
#include "numbers/bit_semantics.h"

namespace opgate::simulator {
namespace permutations {

void lookup(Thread& thread, const Instruction& in) {
  write(thread, in, 0,
        semantics::lop3(read<std::uint32_t>(thread, in, 1), read<std::uint32_t>(thread, in, 2),
                        read<std::uint32_t>(thread, in, 3), read<std::uint32_t>(thread, in, 4)));
}

// lop3.or and lop3.and also give a predicate: d|p, a, b, c, table, q. The slot of q is the immediate
// value, because six operands are the most.
template <bool is_or>
void lookup_with_predicate(Thread& thread, const Instruction& in) {
  const std::uint32_t result =
      semantics::lop3(read<std::uint32_t>(thread, in, 2), read<std::uint32_t>(thread, in, 3),
                      read<std::uint32_t>(thread, in, 4), read<std::uint32_t>(thread, in, 5));
  const bool other = thread.registers[in.immediate] != 0;
  const bool any = result != 0;
  write(thread, in, 0, result);
  write<std::uint8_t>(thread, in, 1, (is_or ? any || other : any && other) ? 1 : 0);
}

void permute(Thread& thread, const Instruction& in) {
  write(thread, in, 0,
        semantics::prmt(read<std::uint32_t>(thread, in, 1), read<std::uint32_t>(thread, in, 2),
                        read<std::uint32_t>(thread, in, 3)));
}

enum class Permutation : std::uint8_t {
  forward,
  backward,
  replicate,
  clamp_left,
  clamp_right,
  replicate_pairs
};

// Which of the eight bytes of {b, a} comes to this place.
unsigned selected(Permutation mode, std::uint32_t control, unsigned place) {
  const unsigned at = control & 3;
  switch (mode) {
    case Permutation::forward:
      return at + place;
    case Permutation::backward:
      return (8 + at - place) & 7;
    case Permutation::replicate:
      return at;
    case Permutation::clamp_left:
      return std::max(at, place);
    case Permutation::clamp_right:
      return std::min(at, place);
    case Permutation::replicate_pairs:
      return 2 * (control & 1) + (place & 1);
  }
  return 0;
}

void permute_in_order(Thread& thread, const Instruction& in) {
  const std::uint64_t bytes =
      read<std::uint32_t>(thread, in, 1) | std::uint64_t{read<std::uint32_t>(thread, in, 2)} << 32;
  const auto control = read<std::uint32_t>(thread, in, 3);
  std::uint32_t result = 0;
  for (unsigned place = 0; place < 4; ++place) {
    const unsigned from = selected(static_cast<Permutation>(in.immediate), control, place);
    result |= semantics::byte_of(bytes, from) << (8 * place);
  }
  write(thread, in, 0, result);
}

template <bool left, bool wraps>
void funnel_shift(Thread& thread, const Instruction& in) {
  const auto a = read<std::uint32_t>(thread, in, 1);
  const auto b = read<std::uint32_t>(thread, in, 2);
  const auto by = read<std::uint32_t>(thread, in, 3);
  write(thread, in, 0, left ? semantics::shf_l(a, b, by, wraps) : semantics::shf_r(a, b, by, wraps));
}

}  // namespace permutations

static Handler select_lop3(Draft& draft) {
  using namespace permutations;
  Modifiers& modifiers = draft.modifiers;
  const bool with_or = modifiers.take("or");
  const bool with_predicate = with_or || modifiers.take("and");
  if (modifiers.take_type() != Type::b32) return nullptr;
  if (!with_predicate) return &lookup;
  if (draft.operands.size() != 6) return nullptr;
  draft.pair_results();
  draft.instruction.immediate = draft.operands.back().slots.front();
  draft.immediate_is_slot = true;
  draft.operands.pop_back();
  return with_or ? &lookup_with_predicate<true> : &lookup_with_predicate<false>;
}

static Handler select_permute(Draft& draft) {
  using namespace permutations;
  if (draft.modifiers.take_type() != Type::b32) return nullptr;
  const std::optional<int> mode = draft.modifiers.take_one({"f4e", "b4e", "rc8", "ecl", "ecr", "rc16"});
  if (!mode) return &permute;
  draft.instruction.immediate = *mode;
  return &permute_in_order;
}

static Handler select_funnel_shift(Draft& draft) {
  using namespace permutations;
  Modifiers& modifiers = draft.modifiers;
  const bool left = modifiers.take("l");
  if (!left && !modifiers.take("r")) return nullptr;
  const bool wraps = modifiers.take("wrap");
  if (!wraps && !modifiers.take("clamp")) return nullptr;
  if (modifiers.take_type() != Type::b32) return nullptr;
  if (left) return wraps ? &funnel_shift<true, true> : &funnel_shift<true, false>;
  return wraps ? &funnel_shift<false, true> : &funnel_shift<false, false>;
}

std::vector<OpcodeRow> opcodes_of_permutations() {
  return {
      {"lop3", {&select_lop3, 5, 6, Result::first, Waits::never, &no_effect, &flow_of_bits}},
      {"prmt", {&select_permute, 4, 4, Result::first, Waits::never, &no_effect, &flow_of_bits}},
      {"shf", {&select_funnel_shift, 4, 4, Result::first, Waits::never, &no_effect, &flow_of_bits}},
  };
}

}  // namespace opgate::simulator
