// Arithmetic of f16 and bf16, alone and in pairs. Each result is rounded once, that of an fma as well.
#include <cmath>

#include "instructions/select.h"
#include "instructions/selectors.h"

namespace opgate::simulator {
namespace small_arithmetic {

enum class Operation : std::uint8_t { add, subtract, multiply, multiply_add, minimum, maximum };

// What comes after the operation is in the immediate value.
constexpr std::int64_t kSaturate = 1;
constexpr std::int64_t kRelu = 2;
constexpr std::int64_t kFlush = 4;
constexpr std::int64_t kNan = 8;          // min and max: NaN where one of them is
constexpr std::int64_t kMagnitudes = 16;  // min and max: of the magnitudes, with the sign of the product

// A product of two of these numbers is exact in double precision, and a sum to odd loses nothing that
// rounding it again needs.
template <Operation operation>
double compute(double a, double b, double c, std::int64_t flags) {
  switch (operation) {
    case Operation::add:
      return add_to_odd(a, b);
    case Operation::subtract:
      return add_to_odd(a, -b);
    case Operation::multiply:
      return a * b;
    case Operation::multiply_add:
      return add_to_odd(a * b, c);
    default:
      break;
  }
  if ((flags & kNan) != 0 && (a != a || b != b)) return std::nan("");
  constexpr bool kSmaller = operation == Operation::minimum;
  if ((flags & kMagnitudes) == 0) return extremum(a, b, kSmaller);
  return std::copysign(extremum(std::fabs(a), std::fabs(b), kSmaller),
                       std::signbit(a) != std::signbit(b) ? -1.0 : 1.0);
}

template <class Small, Operation operation>
std::uint32_t one(std::uint32_t a, std::uint32_t b, std::uint32_t c, std::int64_t flags) {
  const auto source = [&](std::uint32_t bits) {
    const double value = to_double(from_bits<Small>(bits));
    return (flags & kFlush) != 0 ? flushed_half(value) : value;
  };
  double result = compute<operation>(source(a), source(b), source(c), flags);
  if ((flags & kSaturate) != 0) result = saturated(result);
  if ((flags & kRelu) != 0 && !(result > 0) && result == result) result = 0;
  // Only f16 has `.ftz`.
  if ((flags & kFlush) != 0) result = flushed_half(result);
  return rounded<Small>(result).bits;
}

template <Operation operation>
constexpr bool kTakesThree = operation == Operation::multiply_add;

template <class Small, bool is_pair, Operation operation>
void execute(Thread& thread, const Instruction& in) {
  const auto a = read<std::uint32_t>(thread, in, 1);
  const auto b = read<std::uint32_t>(thread, in, 2);
  const auto c = kTakesThree<operation> ? read<std::uint32_t>(thread, in, 3) : 0u;
  std::uint32_t result = one<Small, operation>(a, b, c, in.immediate);
  if (is_pair) result |= one<Small, operation>(a >> 16, b >> 16, c >> 16, in.immediate) << 16;
  write(thread, in, 0, result);
}

template <Operation operation>
Handler for_type(Type type) {
  return for_small_float(type,
                         []<class Small, bool is_pair>() { return &execute<Small, is_pair, operation>; });
}

template <class Small, bool negate>
std::uint32_t with_other_sign(std::uint32_t bits) {
  const double value = to_double(from_bits<Small>(bits));
  if (value != value) return 0x7fff;
  return negate ? (bits ^ 0x8000) & 0xffff : bits & 0x7fff;
}

template <class Small, bool is_pair, bool negate>
void change_sign(Thread& thread, const Instruction& in) {
  const auto value = read<std::uint32_t>(thread, in, 1);
  std::uint32_t result = with_other_sign<Small, negate>(value);
  if (is_pair) result |= with_other_sign<Small, negate>(value >> 16) << 16;
  write(thread, in, 0, result);
}

template <bool negate>
Handler sign_change(Type type) {
  return for_small_float(type,
                         []<class Small, bool is_pair>() { return &change_sign<Small, is_pair, negate>; });
}

std::int64_t take_flags(Modifiers& modifiers) {
  std::int64_t flags = 0;
  if (modifiers.take("sat")) flags |= kSaturate;
  if (modifiers.take("relu")) flags |= kRelu;
  if (modifiers.take("ftz")) flags |= kFlush;
  if (modifiers.take("NaN")) flags |= kNan;
  if (modifiers.has("abs") && modifiers.take("xorsign")) flags |= kMagnitudes;
  if ((flags & kMagnitudes) != 0) modifiers.take("abs");
  return flags;
}

}  // namespace small_arithmetic

Handler small_float_arithmetic(Draft& draft, Type type) {
  using namespace small_arithmetic;
  Modifiers& modifiers = draft.modifiers;
  const std::string& name = modifiers.name();
  if (name == "abs" || name == "neg") {
    if (modifiers.has("ftz")) return nullptr;
    return name == "neg" ? sign_change<true>(type) : sign_change<false>(type);
  }
  draft.instruction.immediate = take_flags(modifiers);
  const std::optional<Rounding> rounding = modifiers.take_rounding();
  if (rounding && *rounding != Rounding::nearest) return nullptr;
  if (name == "add") return for_type<Operation::add>(type);
  if (name == "sub") return for_type<Operation::subtract>(type);
  if (name == "mul") return for_type<Operation::multiply>(type);
  if (name == "fma") return for_type<Operation::multiply_add>(type);
  if (name == "min") return for_type<Operation::minimum>(type);
  if (name == "max") return for_type<Operation::maximum>(type);
  return nullptr;
}

}  // namespace opgate::simulator
