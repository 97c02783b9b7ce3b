// Logic, shifts and fields of bits.
#include <algorithm>
#include <bit>
#include <functional>
#include <type_traits>

#include "instructions/effects.h"
#include "instructions/flows.h"
#include "instructions/select.h"
#include "instructions/selectors.h"
#include "numbers/bit_semantics.h"

namespace opgate::simulator {
namespace bits {

// A shift takes 32 bits as its width.
template <class T>
void shift_left(Thread& thread, const Instruction& in) {
  write(thread, in, 0, semantics::shl(read<T>(thread, in, 1), read<std::uint32_t>(thread, in, 2)));
}

template <class T>
void shift_right(Thread& thread, const Instruction& in) {
  write(thread, in, 0, semantics::shr(read<T>(thread, in, 1), read<std::uint32_t>(thread, in, 2)));
}

template <class T>
void count_ones(Thread& thread, const Instruction& in) {
  write(thread, in, 0, semantics::popc(read<T>(thread, in, 1)));
}

template <class T>
void count_leading_zeros(Thread& thread, const Instruction& in) {
  write(thread, in, 0, semantics::clz(read<T>(thread, in, 1)));
}

// The place of the highest bit that differs from the sign; all bits set where there is none. The immediate is
// 1 with `.shiftamt`: how far that bit must be shifted to become the highest.
template <class T>
void find_highest(Thread& thread, const Instruction& in) {
  using Unsigned = std::make_unsigned_t<T>;
  const T value = read<T>(thread, in, 1);
  const auto magnitude = static_cast<Unsigned>(value < 0 ? ~value : value);
  const int zeros = std::countl_zero(magnitude);
  constexpr int kBits = 8 * sizeof(T);
  const int result = magnitude == 0 ? -1 : in.immediate != 0 ? zeros : kBits - 1 - zeros;
  write(thread, in, 0, static_cast<std::uint32_t>(result));
}

template <class T>
T reversed(T value) {
  T result = 0;
  for (std::size_t i = 0; i < 8 * sizeof(T); ++i) result = static_cast<T>(result << 1 | (value >> i & 1));
  return result;
}

template <class T>
void extract_field(Thread& thread, const Instruction& in) {
  write(thread, in, 0,
        semantics::bfe(read<T>(thread, in, 1), read<std::uint32_t>(thread, in, 2),
                       read<std::uint32_t>(thread, in, 3)));
}

Handler extraction(Type type) {
  if (bytes_of(type) == 8)
    return is_signed(type) ? &extract_field<std::int64_t> : &extract_field<std::uint64_t>;
  return is_signed(type) ? &extract_field<std::int32_t> : &extract_field<std::uint32_t>;
}

template <class T>
void insert_field(Thread& thread, const Instruction& in) {
  write(thread, in, 0,
        semantics::bfi(read<T>(thread, in, 1), read<T>(thread, in, 2), read<std::uint32_t>(thread, in, 3),
                       read<std::uint32_t>(thread, in, 4)));
}

// szext: the low bits of a, extended by their sign or by zeros. The immediate is 1 with `.wrap`.
template <class T>
void extend(Thread& thread, const Instruction& in) {
  const auto count = read<std::uint32_t>(thread, in, 2);
  const unsigned kept = in.immediate != 0 ? count & 31 : std::min(count, std::uint32_t{32});
  const auto value = read<std::uint32_t>(thread, in, 1);
  std::uint32_t result = value & semantics::ones_u32(kept);
  if (std::is_signed_v<T> && kept != 0 && (value >> (kept - 1) & 1) != 0)
    result |= ~semantics::ones_u32(kept);
  write(thread, in, 0, result);
}

void make_mask(Thread& thread, const Instruction& in) {
  auto at = read<std::uint32_t>(thread, in, 1);
  auto length = read<std::uint32_t>(thread, in, 2);
  if (in.immediate != 0) {
    at &= 31;
    length &= 31;
  }
  write(thread, in, 0, at >= 32 ? 0u : semantics::ones_u32(length) << at);
}

// fns: the place of the n-th set bit at or above the base; with a negative n, at or below it.
void find_nth(Thread& thread, const Instruction& in) {
  const auto mask = read<std::uint32_t>(thread, in, 1);
  const auto base = read<std::uint32_t>(thread, in, 2);
  const auto offset = read<std::int32_t>(thread, in, 3);
  std::uint32_t result = ~std::uint32_t{0};
  std::int64_t left = offset < 0 ? -std::int64_t{offset} : offset;
  if (offset == 0) {
    if (base < 32 && (mask >> base & 1) != 0) result = base;
  } else {
    const std::int64_t step = offset > 0 ? 1 : -1;
    for (std::int64_t at = base; at >= 0 && at < 32; at += step) {
      if ((mask >> at & 1) == 0 || --left != 0) continue;
      result = static_cast<std::uint32_t>(at);
      break;
    }
  }
  write(thread, in, 0, result);
}

Handler for_predicate(const std::string& name) {
  if (name == "and") return &binary<std::uint8_t, std::bit_and<>>;
  if (name == "or") return &binary<std::uint8_t, std::bit_or<>>;
  if (name == "xor") return &binary<std::uint8_t, std::bit_xor<>>;
  if (name == "not") return &execute_not_predicate;
  return nullptr;
}

}  // namespace bits

void execute_not_predicate(Thread& thread, const Instruction& in) {
  write<std::uint8_t>(thread, in, 0, read<std::uint8_t>(thread, in, 1) ^ 1);
}

static Handler select_bits(Draft& draft) {
  using namespace bits;
  Modifiers& modifiers = draft.modifiers;
  const std::string& name = modifiers.name();
  const Type type = modifiers.take_type();
  const bool wide = bytes_of(type) == 8;
  if (type == Type::pred) return for_predicate(name);
  if (name == "and") return binary_of_integer(type, std::bit_and());
  if (name == "or") return binary_of_integer(type, std::bit_or());
  if (name == "xor") return binary_of_integer(type, std::bit_xor());
  if (name == "not") return unary_of_integer(type, std::bit_not());
  if (name == "cnot") return unary_of_integer(type, std::logical_not());
  if (name == "shl") return for_integer(type, []<class T>() { return &shift_left<T>; });
  if (name == "shr") return for_integer(type, []<class T>() { return &shift_right<T>; });
  if (bytes_of(type) < 4) return nullptr;
  if (name == "popc") return wide ? &count_ones<std::uint64_t> : &count_ones<std::uint32_t>;
  if (name == "clz") return wide ? &count_leading_zeros<std::uint64_t> : &count_leading_zeros<std::uint32_t>;
  if (name == "brev") return unary_of_integer(type, [](auto value) { return reversed(value); });
  if (name == "bfe") return extraction(type);
  if (name == "bfi") return wide ? &insert_field<std::uint64_t> : &insert_field<std::uint32_t>;
  if (name == "fns") return &find_nth;
  if (name == "bfind") {
    draft.instruction.immediate = modifiers.take("shiftamt") ? 1 : 0;
    return for_integer(type, []<class T>() { return &find_highest<T>; });
  }
  const bool wraps = modifiers.take("wrap");
  if (!wraps && !modifiers.take("clamp")) return nullptr;
  draft.instruction.immediate = wraps ? 1 : 0;
  if (name == "bmsk") return &make_mask;
  return type == Type::s32 ? &extend<std::int32_t> : &extend<std::uint32_t>;
}

std::vector<OpcodeRow> opcodes_of_bits() {
  return {
      {{"and", "or", "xor", "shl", "shr", "szext"},
       {&select_bits, 3, 3, Result::first, Waits::never, &no_effect, &flow_of_bits}},
      {{"not", "brev"}, {&select_bits, 2, 2, Result::first, Waits::never, &no_effect, &flow_of_bits}},
      {{"cnot", "popc", "clz", "bfind"},
       {&select_bits, 2, 2, Result::first, Waits::never, &no_effect, &flow_of_number}},
      {"bfe", {&select_bits, 4, 4, Result::first, Waits::never, &no_effect, &flow_of_bits}},
      {"bfi", {&select_bits, 5, 5, Result::first, Waits::never, &no_effect, &flow_of_bits}},
      {"bmsk", {&select_bits, 3, 3, Result::first, Waits::never, &no_effect, &flow_of_number}},
      {"fns", {&select_bits, 4, 4, Result::first, Waits::never, &no_effect, &flow_of_number}},
  };
}

}  // namespace opgate::simulator
