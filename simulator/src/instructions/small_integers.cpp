// Arithmetic of parts of integers: of 24 bits, of bytes, and sums of their products.
#include "instructions/effects.h"
#include "instructions/flows.h"
#include "instructions/select.h"
#include "instructions/selectors.h"
#include "numbers/integer_semantics.h"

namespace opgate::simulator {
namespace small_integers {

template <class T, int shift>
T product_of_24_bits(T a, T b) {
  // Shifting up and down extends the 24 bits by their sign where T has one.
  const auto narrow = [](T value) {
    return static_cast<T>(static_cast<T>(static_cast<std::uint32_t>(value) << 8) >> 8);
  };
  return static_cast<T>(semantics::mul_wide(narrow(a), narrow(b)) >> shift);
}

// The 32 low bits of the product of 48, or the 32 high ones.
template <int shift>
Handler select_product(Draft& draft, Type type) {
  if (type != Type::u32 && type != Type::s32) return nullptr;
  if (draft.modifiers.name() == "mul24")
    return binary_of_integer(type, []<class T>(T a, T b) { return product_of_24_bits<T, shift>(a, b); });
  if (!draft.modifiers.take("sat"))
    return ternary_of_integer(
        type, []<class T>(T a, T b, T c) { return semantics::add(product_of_24_bits<T, shift>(a, b), c); });
  const auto sum = [](std::int32_t a, std::int32_t b, std::int32_t c) {
    return clamped<std::int32_t>(std::int64_t{product_of_24_bits<std::int32_t, shift>(a, b)} + c);
  };
  return shift != 0 && type == Type::s32 ? &ternary<std::int32_t, decltype(sum)> : nullptr;
}

// dp4a and dp2a: sums of products of small integers

template <class A, class B>
void dot_of_four(Thread& thread, const Instruction& in) {
  const auto a = read<std::uint32_t>(thread, in, 1);
  const auto b = read<std::uint32_t>(thread, in, 2);
  auto sum = read<std::uint32_t>(thread, in, 3);
  for (int shift = 0; shift < 32; shift += 8)
    sum += static_cast<std::uint32_t>(static_cast<A>(a >> shift) * static_cast<B>(b >> shift));
  write(thread, in, 0, sum);
}

// The immediate is the first byte of b that takes part.
template <class A, class B>
void dot_of_two(Thread& thread, const Instruction& in) {
  const auto a = read<std::uint32_t>(thread, in, 1);
  const auto b = static_cast<std::uint32_t>(read<std::uint32_t>(thread, in, 2) >> (8 * in.immediate));
  auto sum = read<std::uint32_t>(thread, in, 3);
  for (int i = 0; i < 2; ++i)
    sum += static_cast<std::uint32_t>(static_cast<A>(a >> (16 * i)) * static_cast<B>(b >> (8 * i)));
  write(thread, in, 0, sum);
}

Handler dot_product(Draft& draft) {
  Modifiers& modifiers = draft.modifiers;
  const Type a = modifiers.take_type();
  const Type b = modifiers.take_type();
  const auto is_integer = [](Type type) { return type == Type::u32 || type == Type::s32; };
  if (!is_integer(a) || !is_integer(b)) return nullptr;
  const bool a_signed = a == Type::s32;
  const bool b_signed = b == Type::s32;
  if (modifiers.name() == "dp4a") {
    if (a_signed)
      return b_signed ? &dot_of_four<std::int8_t, std::int8_t> : &dot_of_four<std::int8_t, std::uint8_t>;
    return b_signed ? &dot_of_four<std::uint8_t, std::int8_t> : &dot_of_four<std::uint8_t, std::uint8_t>;
  }
  const bool high = modifiers.take("hi");
  if (!high && !modifiers.take("lo")) return nullptr;
  draft.instruction.immediate = high ? 2 : 0;
  if (a_signed)
    return b_signed ? &dot_of_two<std::int16_t, std::int8_t> : &dot_of_two<std::int16_t, std::uint8_t>;
  return b_signed ? &dot_of_two<std::uint16_t, std::int8_t> : &dot_of_two<std::uint16_t, std::uint8_t>;
}

// vabsdiff4 d, a, b, c: differences of bytes; with `.add` their sum plus c. This is the only instruction on
// four bytes that the devices still have.
template <class T, bool adds>
void differences_of_bytes(Thread& thread, const Instruction& in) {
  const auto a = read<std::uint32_t>(thread, in, 1);
  const auto b = read<std::uint32_t>(thread, in, 2);
  std::uint32_t result = adds ? read<std::uint32_t>(thread, in, 3) : 0;
  for (int shift = 0; shift < 32; shift += 8) {
    const int difference = static_cast<T>(a >> shift) - static_cast<T>(b >> shift);
    const auto magnitude = static_cast<std::uint32_t>(difference < 0 ? -difference : difference);
    result += adds ? magnitude : magnitude << shift;
  }
  write(thread, in, 0, result);
}

}  // namespace small_integers

static Handler select_byte_differences(Draft& draft) {
  using namespace small_integers;
  Modifiers& modifiers = draft.modifiers;
  const bool adds = modifiers.take("add");
  modifiers.take_type();
  const Type type = modifiers.take_type();
  if (modifiers.take_type() != type) return nullptr;
  if (type == Type::u32)
    return adds ? &differences_of_bytes<std::uint8_t, true> : &differences_of_bytes<std::uint8_t, false>;
  if (type == Type::s32)
    return adds ? &differences_of_bytes<std::int8_t, true> : &differences_of_bytes<std::int8_t, false>;
  return nullptr;
}

static Handler select_integer_extra(Draft& draft) {
  using namespace small_integers;
  Modifiers& modifiers = draft.modifiers;
  const std::string& name = modifiers.name();
  if (name == "dp4a" || name == "dp2a") return dot_product(draft);
  const Type type = modifiers.take_type();
  if (name == "sad")
    return ternary_of_integer(type, [](auto a, auto b, auto c) {
      return semantics::add(a < b ? semantics::sub(b, a) : semantics::sub(a, b), c);
    });
  const bool high = modifiers.take("hi");
  if (!high && !modifiers.take("lo")) return nullptr;
  return high ? select_product<16>(draft, type) : select_product<0>(draft, type);
}

std::vector<OpcodeRow> opcodes_of_small_integers() {
  return {
      {"mul24", {&select_integer_extra, 3, 3, Result::first, Waits::never, &no_effect, &flow_of_24_bits}},
      {"mad24", {&select_integer_extra, 4, 4, Result::first, Waits::never, &no_effect, &flow_of_24_bits}},
      {{"sad", "dp4a", "dp2a"},
       {&select_integer_extra, 4, 4, Result::first, Waits::never, &no_effect, &flow_of_number}},
      {"vabsdiff4",
       {&select_byte_differences, 4, 4, Result::first, Waits::never, &no_effect, &flow_of_number}},
  };
}

}  // namespace opgate::simulator
