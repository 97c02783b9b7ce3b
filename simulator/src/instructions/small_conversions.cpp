// Conversions of two numbers into parts of one register, and to formats that have no arithmetic.
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "instructions/select.h"
#include "instructions/selectors.h"

namespace opgate::simulator {
namespace small_conversions {

constexpr std::int64_t kRounding = 7;
constexpr std::int64_t kRelu = 8;

double prepared(const Thread& thread, const Instruction& in, int operand) {
  const double value = read<float>(thread, in, operand);
  return (in.immediate & kRelu) != 0 && !(value > 0) && value == value ? 0 : value;
}

// cvt.f16x2.f32 d, a, b: a comes into the upper half.
template <class Small>
void to_pair(Thread& thread, const Instruction& in) {
  const auto rounding = static_cast<Rounding>(in.immediate & kRounding);
  const std::uint32_t upper = rounded<Small>(prepared(thread, in, 1), rounding).bits;
  write(thread, in, 0, upper << 16 | rounded<Small>(prepared(thread, in, 2), rounding).bits);
}

template <std::uint8_t (*encode_byte)(double)>
void to_bytes(Thread& thread, const Instruction& in) {
  const std::uint32_t upper = encode_byte(prepared(thread, in, 1));
  write(thread, in, 0, upper << 8 | encode_byte(prepared(thread, in, 2)));
}

template <std::uint8_t (*encode_byte)(double)>
void halves_to_bytes(Thread& thread, const Instruction& in) {
  const auto both = read<std::uint32_t>(thread, in, 1);
  const auto convert = [&](int shift) -> std::uint32_t {
    double value = to_double(from_bits<Half>(both >> shift));
    if ((in.immediate & kRelu) != 0 && !(value > 0) && value == value) value = 0;
    return encode_byte(value);
  };
  write(thread, in, 0, convert(0) | convert(16) << 8);
}

template <double (*decode_byte)(std::uint8_t)>
void bytes_to_halves(Thread& thread, const Instruction& in) {
  const auto both = read<std::uint32_t>(thread, in, 1);
  const auto convert = [&](int shift) -> std::uint32_t {
    double value = decode_byte(static_cast<std::uint8_t>(both >> shift));
    if ((in.immediate & kRelu) != 0 && !(value > 0) && value == value) value = 0;
    return rounded<Half>(value).bits;
  };
  write(thread, in, 0, convert(0) | convert(8) << 16);
}

// A number of single precision with ten bits of fraction.
void to_tf32(Thread& thread, const Instruction& in) {
  const auto rounding = static_cast<Rounding>(in.immediate & kRounding);
  const auto source = read<float>(thread, in, 1);
  if (source != source && rounding == Rounding::away) {
    write(thread, in, 0, read<std::uint32_t>(thread, in, 1) & 0xffffe000u);
    return;
  }
  const std::uint64_t bits = encode(prepared(thread, in, 1), 10, 8, rounding);
  write(thread, in, 0, static_cast<std::uint32_t>(bits << 13));
}

// cvt.pack: two integers, each as the nearest one of a few bits, side by side in a register.
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

}  // namespace small_conversions

Handler small_conversion(Draft& draft, Type to, Type from, Rounding rounding) {
  using namespace small_conversions;
  // Flags of the common conversions were taken: of those, only `.relu` and the rounding have a meaning here.
  constexpr std::int64_t kReluOfConversion = 64;
  const std::int64_t given = draft.instruction.immediate & ~std::int64_t{7};
  if ((given & ~kReluOfConversion) != 0) return nullptr;
  draft.instruction.immediate = static_cast<std::int64_t>(rounding) | (given != 0 ? kRelu : 0);
  const bool saturates = draft.modifiers.take("satfinite");
  const std::size_t sources = draft.operands.size() - 1;
  if (to == Type::tf32 && from == Type::f32 && sources == 1) return saturates ? nullptr : &to_tf32;
  if (from == Type::f32 && sources == 2) {
    if (to == Type::f16x2) return saturates ? nullptr : &to_pair<Half>;
    if (to == Type::bf16x2) return saturates ? nullptr : &to_pair<Bfloat16>;
    if (to == Type::e4m3x2) return saturates ? &to_bytes<&encode_e4m3> : nullptr;
    if (to == Type::e5m2x2) return saturates ? &to_bytes<&encode_e5m2> : nullptr;
  }
  if (sources != 1) return nullptr;
  if (from == Type::f16x2 && saturates) {
    if (to == Type::e4m3x2) return &halves_to_bytes<&encode_e4m3>;
    if (to == Type::e5m2x2) return &halves_to_bytes<&encode_e5m2>;
  }
  if (to != Type::f16x2 || saturates) return nullptr;
  if (from == Type::e4m3x2) return &bytes_to_halves<&decode_e4m3>;
  return from == Type::e5m2x2 ? &bytes_to_halves<&decode_e5m2> : nullptr;
}

Handler select_pack_conversion(Draft& draft) {
  using namespace small_conversions;
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
