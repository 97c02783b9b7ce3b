// cvt.pack: two integers, each as the nearest one of a few bits, side by side in a register.
#include <algorithm>
#include <array>
#include <optional>

#include "instructions/select.h"
#include "instructions/selectors.h"

namespace opgate::simulator {
namespace pack_conversions {

template <unsigned bits, bool is_signed>
std::uint32_t nearest(std::int32_t value) {
  constexpr std::int32_t kLeast = is_signed ? -(1 << (bits - 1)) : 0;
  constexpr std::int32_t kMost = (1 << (is_signed ? bits - 1 : bits)) - 1;
  return static_cast<std::uint32_t>(std::clamp(value, kLeast, kMost)) & ((1u << bits) - 1);
}

// d, a, b: a is above b; or d, a, b, c: and the low bits of c are above both.
template <unsigned bits, bool is_signed>
void pack(Thread& thread, const Instruction& in) {
  const std::uint32_t pair = nearest<bits, is_signed>(read<std::int32_t>(thread, in, 1)) << bits |
                             nearest<bits, is_signed>(read<std::int32_t>(thread, in, 2));
  if constexpr (bits == 16) {
    write(thread, in, 0, pair);
  } else {
    write(thread, in, 0, read<std::uint32_t>(thread, in, 3) << 2 * bits | pair);
  }
}

}  // namespace pack_conversions

Handler select_pack_conversion(Draft& draft) {
  using namespace pack_conversions;
  Modifiers& modifiers = draft.modifiers;
  const std::optional<int> to = modifiers.take_one({"u16", "s16", "u8", "s8", "u4", "s4", "u2", "s2"});
  const bool is_known = to && modifiers.take("sat") && modifiers.take_type() == Type::s32;
  const bool keeps = is_known && *to > 1;
  if (!is_known || draft.operands.size() != (keeps ? 4 : 3)) return nullptr;
  if (keeps && modifiers.take_type() != Type::b32) return nullptr;
  constexpr std::array<Handler, 8> kHandlers{&pack<16, false>, &pack<16, true>, &pack<8, false>,
                                             &pack<8, true>,   &pack<4, false>, &pack<4, true>,
                                             &pack<2, false>,  &pack<2, true>};
  return kHandlers[static_cast<std::size_t>(*to)];
}

}  // namespace opgate::simulator
