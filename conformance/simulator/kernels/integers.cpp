// Arithmetic of integers.
#include <limits>
#include <type_traits>

#include "simulator/kernels/select.h"
#include "simulator/kernels/selectors.h"

namespace opgate::simulator {
namespace integers {

// Narrower unsigned types would be promoted to `int`, in which a product can overflow.
template <class T>
using Wrapping = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;

template <class T>
using Twice =
    std::conditional_t<sizeof(T) == 8, std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>,
                       std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>>;

struct Add {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(static_cast<Wrapping<T>>(a) + static_cast<Wrapping<T>>(b));
  }
};

struct Subtract {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(static_cast<Wrapping<T>>(a) - static_cast<Wrapping<T>>(b));
  }
};

// Into the range of T.
template <class T, class Wide>
T clamped(Wide value) {
  if (value < Wide{std::numeric_limits<T>::min()}) return std::numeric_limits<T>::min();
  if (value > Wide{std::numeric_limits<T>::max()}) return std::numeric_limits<T>::max();
  return static_cast<T>(value);
}

struct AddSaturating {
  std::int32_t operator()(std::int32_t a, std::int32_t b) const {
    return clamped<std::int32_t>(std::int64_t{a} + b);
  }
};

struct SubtractSaturating {
  std::int32_t operator()(std::int32_t a, std::int32_t b) const {
    return clamped<std::int32_t>(std::int64_t{a} - b);
  }
};

struct MultiplyLow {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(static_cast<Wrapping<T>>(a) * static_cast<Wrapping<T>>(b));
  }
};

struct MultiplyHigh {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>((Twice<T>{a} * b) >> (8 * sizeof(T)));
  }
};

template <class Multiply>
struct MultiplyAdd {
  template <class T>
  T operator()(T a, T b, T c) const {
    return Add()(Multiply()(a, b), c);
  }
};

struct MultiplyHighAddSaturating {
  std::int32_t operator()(std::int32_t a, std::int32_t b, std::int32_t c) const {
    return clamped<std::int32_t>(std::int64_t{MultiplyHigh()(a, b)} + c);
  }
};

// Division by zero is not defined by PTX. The devices give all bits set, and the dividend as remainder.
struct Divide {
  template <class T>
  T operator()(T a, T b) const {
    if (b == 0) return static_cast<T>(~T{0});
    if constexpr (std::is_signed_v<T>) {
      if (b == T{-1}) return Subtract()(T{0}, a);
    }
    return static_cast<T>(a / b);
  }
};

struct Remainder {
  template <class T>
  T operator()(T a, T b) const {
    if (b == 0) return a;
    if constexpr (std::is_signed_v<T>) {
      if (b == T{-1}) return T{0};
    }
    return static_cast<T>(a % b);
  }
};

struct Absolute {
  template <class T>
  T operator()(T a) const {
    return a < T{0} ? Subtract()(T{0}, a) : a;
  }
};

struct Negate {
  template <class T>
  T operator()(T a) const {
    return Subtract()(T{0}, a);
  }
};

struct Minimum {
  template <class T>
  T operator()(T a, T b) const {
    return a < b ? a : b;
  }
};

struct Maximum {
  template <class T>
  T operator()(T a, T b) const {
    return a > b ? a : b;
  }
};

// `.relu`: what is negative becomes 0.
template <class Operation>
struct Relu {
  template <class T>
  T operator()(T a, T b) const {
    return Maximum()(Operation()(a, b), T{0});
  }
};

template <class T>
void multiply_wide(Thread& thread, const Instruction& in) {
  write(thread, in, 0, static_cast<Twice<T>>(Twice<T>{read<T>(thread, in, 1)} * read<T>(thread, in, 2)));
}

template <class T>
void multiply_add_wide(Thread& thread, const Instruction& in) {
  const auto product = static_cast<std::uint64_t>(Twice<T>{read<T>(thread, in, 1)} * read<T>(thread, in, 2));
  using Result = std::conditional_t<sizeof(T) == 4, std::uint64_t, std::uint32_t>;
  write(thread, in, 0, static_cast<Result>(product + read<Result>(thread, in, 3)));
}

// Two values of 16 bits in one register.
template <class T, class Operation>
void packed(Thread& thread, const Instruction& in) {
  const auto a = read<std::uint32_t>(thread, in, 1);
  const auto b = read<std::uint32_t>(thread, in, 2);
  const auto half = [&](int shift) {
    const T result = Operation()(static_cast<T>(a >> shift), static_cast<T>(b >> shift));
    return static_cast<std::uint32_t>(static_cast<std::uint16_t>(result)) << shift;
  };
  write(thread, in, 0, half(0) | half(16));
}

template <class Operation>
Handler for_packed(Type type) {
  if (type == Type::u16x2) return &packed<std::uint16_t, Operation>;
  if (type == Type::s16x2) return &packed<std::int16_t, Operation>;
  return for_integer<Binary<Operation>>(type);
}

Handler multiplication(Draft& draft, Type type) {
  Modifiers& modifiers = draft.modifiers;
  const bool adds = modifiers.name() == "mad";
  if (modifiers.take("wide")) {
    switch (type) {
      case Type::u16:
        return adds ? &multiply_add_wide<std::uint16_t> : &multiply_wide<std::uint16_t>;
      case Type::s16:
        return adds ? &multiply_add_wide<std::int16_t> : &multiply_wide<std::int16_t>;
      case Type::u32:
        return adds ? &multiply_add_wide<std::uint32_t> : &multiply_wide<std::uint32_t>;
      case Type::s32:
        return adds ? &multiply_add_wide<std::int32_t> : &multiply_wide<std::int32_t>;
      default:
        return nullptr;
    }
  }
  if (modifiers.take("hi")) {
    if (adds && modifiers.take("sat"))
      return type == Type::s32 ? &ternary<std::int32_t, MultiplyHighAddSaturating> : nullptr;
    return adds ? for_integer<Ternary<MultiplyAdd<MultiplyHigh>>>(type)
                : for_integer<Binary<MultiplyHigh>>(type);
  }
  if (!modifiers.take("lo")) return nullptr;
  return adds ? for_integer<Ternary<MultiplyAdd<MultiplyLow>>>(type) : for_integer<Binary<MultiplyLow>>(type);
}

// mul24 and sad

template <class T, int shift>
T product_of_24_bits(T a, T b) {
  // Shifting up and down extends the 24 bits by their sign where T has one.
  const auto narrow = [](T value) {
    return static_cast<Twice<T>>(static_cast<T>(static_cast<std::uint32_t>(value) << 8) >> 8);
  };
  return static_cast<T>((narrow(a) * narrow(b)) >> shift);
}

template <int shift>
struct Multiply24 {
  template <class T>
  T operator()(T a, T b) const {
    return product_of_24_bits<T, shift>(a, b);
  }
};

struct SumOfDifference {
  template <class T>
  T operator()(T a, T b, T c) const {
    return Add()(a < b ? Subtract()(b, a) : Subtract()(a, b), c);
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

// vabsdiff4 d, a, b, c: differences of bytes; with `.add` their sum plus c. This is the only instruction on four bytes that the
// devices still have.
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

}  // namespace integers

Handler integer_arithmetic(Draft& draft, Type type) {
  using namespace integers;
  Modifiers& modifiers = draft.modifiers;
  const std::string& name = modifiers.name();
  if (name == "add" || name == "sub") {
    const bool adds = name == "add";
    if (modifiers.take("sat")) {
      if (type != Type::s32) return nullptr;
      return adds ? &binary<std::int32_t, AddSaturating> : &binary<std::int32_t, SubtractSaturating>;
    }
    return adds ? for_packed<Add>(type) : for_packed<Subtract>(type);
  }
  if (name == "mul" || name == "mad") return multiplication(draft, type);
  if (name == "div") return for_integer<Binary<Divide>>(type);
  if (name == "rem") return for_integer<Binary<Remainder>>(type);
  if (name == "abs") return for_integer<Unary<Absolute>>(type);
  if (name == "neg") return for_integer<Unary<Negate>>(type);
  const bool relu = modifiers.take("relu");
  if (relu && type != Type::s32 && type != Type::s16x2) return nullptr;
  if (name == "min") return relu ? for_packed<Relu<Minimum>>(type) : for_packed<Minimum>(type);
  if (name == "max") return relu ? for_packed<Relu<Maximum>>(type) : for_packed<Maximum>(type);
  return nullptr;
}

Handler select_byte_differences(Draft& draft) {
  using namespace integers;
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

Handler select_integer_extra(Draft& draft) {
  using namespace integers;
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
  return high ? for_32_bits<Ternary<MultiplyAdd<Multiply24<16>>>>(type)
              : for_32_bits<Ternary<MultiplyAdd<Multiply24<0>>>>(type);
}

}  // namespace opgate::simulator
