// Arithmetic of integers.
#include <type_traits>

#include "instructions/select.h"
#include "instructions/selectors.h"
#include "numbers/integer_semantics.h"

namespace opgate::simulator {
namespace integers {

template <class T>
void multiply_wide(Thread& thread, const Instruction& in) {
  write(thread, in, 0, semantics::mul_wide(read<T>(thread, in, 1), read<T>(thread, in, 2)));
}

template <class T>
void multiply_add_wide(Thread& thread, const Instruction& in) {
  const auto product =
      static_cast<std::uint64_t>(semantics::mul_wide(read<T>(thread, in, 1), read<T>(thread, in, 2)));
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
Handler for_packed(Type type, Operation operation) {
  if (type == Type::u16x2) return &packed<std::uint16_t, Operation>;
  if (type == Type::s16x2) return &packed<std::int16_t, Operation>;
  return binary_of_integer(type, operation);
}

// `.relu`: what is negative becomes 0.
template <class Operation>
Handler extremum(Type type, bool relu, Operation operation) {
  if (!relu) return for_packed(type, operation);
  if (type != Type::s32 && type != Type::s16x2) return nullptr;
  return for_packed(type, []<class T>(T a, T b) { return semantics::max(Operation()(a, b), T{0}); });
}

// For s32 alone.
template <class Operation>
Handler saturating(Type type, Operation) {
  return type == Type::s32 ? &binary<std::int32_t, Operation> : nullptr;
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
    if (!adds) return binary_of_integer(type, [](auto a, auto b) { return semantics::mul_hi(a, b); });
    if (!modifiers.take("sat"))
      return ternary_of_integer(type, [](auto a, auto b, auto c) { return semantics::mad_hi(a, b, c); });
    const auto sum = [](std::int32_t a, std::int32_t b, std::int32_t c) {
      return clamped<std::int32_t>(std::int64_t{semantics::mul_hi(a, b)} + c);
    };
    return type == Type::s32 ? &ternary<std::int32_t, decltype(sum)> : nullptr;
  }
  if (!modifiers.take("lo")) return nullptr;
  if (!adds) return binary_of_integer(type, [](auto a, auto b) { return semantics::mul_lo(a, b); });
  return ternary_of_integer(type, [](auto a, auto b, auto c) { return semantics::mad_lo(a, b, c); });
}

}  // namespace integers

Handler integer_arithmetic(Draft& draft, Type type) {
  using namespace integers;
  Modifiers& modifiers = draft.modifiers;
  const std::string& name = modifiers.name();
  if (name == "add") {
    if (modifiers.take("sat"))
      return saturating(type, [](std::int64_t a, std::int64_t b) { return clamped<std::int32_t>(a + b); });
    return for_packed(type, [](auto a, auto b) { return semantics::add(a, b); });
  }
  if (name == "sub") {
    if (modifiers.take("sat"))
      return saturating(type, [](std::int64_t a, std::int64_t b) { return clamped<std::int32_t>(a - b); });
    return for_packed(type, [](auto a, auto b) { return semantics::sub(a, b); });
  }
  if (name == "mul" || name == "mad") return multiplication(draft, type);
  if (name == "div") return binary_of_integer(type, [](auto a, auto b) { return semantics::div(a, b); });
  if (name == "rem") return binary_of_integer(type, [](auto a, auto b) { return semantics::rem(a, b); });
  if (name == "abs") return unary_of_integer(type, [](auto a) { return semantics::abs(a); });
  if (name == "neg") return unary_of_integer(type, [](auto a) { return semantics::neg(a); });
  const bool relu = modifiers.take("relu");
  if (name == "min") return extremum(type, relu, [](auto a, auto b) { return semantics::min(a, b); });
  if (name == "max") return extremum(type, relu, [](auto a, auto b) { return semantics::max(a, b); });
  return nullptr;
}

}  // namespace opgate::simulator
