// Arithmetic of parts of integers: of 24 bits, of bytes, and sums of their products.
#include "instructions/effects.h"
#include "instructions/flows.h"
#include "instructions/select.h"
#include "instructions/selectors.h"
#include "numbers/integer_operations.h"

namespace opgate::simulator {
namespace small_integers {

using namespace integers;

template <class T, int shift>
T product_of_24_bits(T a, T b) {
  // Shifting up and down extends the 24 bits by their sign where T has one.
  const auto narrow = [](T value) {
    return static_cast<T>(static_cast<T>(static_cast<std::uint32_t>(value) << 8) >> 8);
  };
  return static_cast<T>(semantics::mul_wide(narrow(a), narrow(b)) >> shift);
}

template <int shift>
struct Multiply24 {
  template <class T>
  T operator()(T a, T b) const {
    return product_of_24_bits<T, shift>(a, b);
  }
};

template <int shift>
struct Multiply24Add {
  template <class T>
  T operator()(T a, T b, T c) const {
    return semantics::add(product_of_24_bits<T, shift>(a, b), c);
  }
};

struct SumOfDifference {
  template <class T>
  T operator()(T a, T b, T c) const {
    return semantics::add(a < b ? semantics::sub(b, a) : semantics::sub(a, b), c);
  }
};

struct Multiply24HighAddSaturating {
  std::int32_t operator()(std::int32_t a, std::int32_t b, std::int32_t c) const {
    return clamped<std::int32_t>(std::int64_t{Multiply24<16>()(a, b)} + c);
  }
};

template <class Operation>
Handler for_32_bits(Type type) {
  if (type == Type::u32) return Operation::template handler<std::uint32_t>();
  if (type == Type::s32) return Operation::template handler<std::int32_t>();
  return nullptr;
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
  if (name == "sad") return for_integer<Ternary<SumOfDifference>>(type);
  const bool high = modifiers.take("hi");
  if (!high && !modifiers.take("lo")) return nullptr;
  if (name == "mul24")
    return high ? for_32_bits<Binary<Multiply24<16>>>(type) : for_32_bits<Binary<Multiply24<0>>>(type);
  if (modifiers.take("sat"))
    return high && type == Type::s32 ? &ternary<std::int32_t, Multiply24HighAddSaturating> : nullptr;
  return high ? for_32_bits<Ternary<Multiply24Add<16>>>(type) : for_32_bits<Ternary<Multiply24Add<0>>>(type);
}

std::vector<OpcodeRow> opcodes_of_small_integers() {
  return {
      {"mul24", {&select_integer_extra, 3, 3, Result::first, Waits::never, &no_effect, &flow_of_24_bits}},
      {"mad24", {&select_integer_extra, 4, 4, Result::first, Waits::never, &no_effect, &flow_of_24_bits}},
      {"sad", {&select_integer_extra, 4, 4, Result::first, Waits::never, &no_effect, &flow_of_number}},
      {"dp4a", {&select_integer_extra, 4, 4, Result::first, Waits::never, &no_effect, &flow_of_number}},
      {"dp2a", {&select_integer_extra, 4, 4, Result::first, Waits::never, &no_effect, &flow_of_number}},
      {"vabsdiff4",
       {&select_byte_differences, 4, 4, Result::first, Waits::never, &no_effect, &flow_of_number}},
  };
}

}  // namespace opgate::simulator
