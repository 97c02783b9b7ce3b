// Arithmetic of integers.
#include <type_traits>

#include "instructions/select.h"
#include "instructions/selectors.h"
#include "numbers/integer_operations.h"

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
    return adds ? for_integer<Ternary<MultiplyHighAdd>>(type) : for_integer<Binary<MultiplyHigh>>(type);
  }
  if (!modifiers.take("lo")) return nullptr;
  return adds ? for_integer<Ternary<MultiplyLowAdd>>(type) : for_integer<Binary<MultiplyLow>>(type);
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

}  // namespace opgate::simulator
