// Arithmetic in single and double precision.
#include <cfenv>
#include <cmath>
#include <functional>
#include <type_traits>

#include "instructions/effects.h"
#include "instructions/flows.h"
#include "instructions/select.h"
#include "instructions/selectors.h"
#include "numbers/approximation.h"

namespace opgate::simulator {
namespace floats {

using Add = std::plus<>;
using Subtract = std::minus<>;
using Multiply = std::multiplies<>;
using Divide = std::divides<>;
using Reciprocal = decltype([](auto a) { return 1 / a; });
using SquareRoot = decltype([](auto a) { return std::sqrt(a); });
using Absolute = decltype([](auto a) { return std::fabs(a); });
using Negate = std::negate<>;
using MultiplyAdd = decltype([](auto a, auto b, auto c) { return std::fma(a, b, c); });
using Minimum = decltype([](auto a, auto b) { return semantics::min(a, b); });
using Maximum = decltype([](auto a, auto b) { return semantics::max(a, b); });
// The sign of a, the magnitude of b.
using CopySign = decltype([](auto a, auto b) { return std::copysign(b, a); });
using DivideApproximately = decltype([](float a, float b) { return semantics::div_approx(a, b); });

// Within the two units in the last place that are documented.
template <class Division, ApproximationEdge edge>
struct DivideAtEdge {
  float operator()(float a, float b) const {
    const float quotient = Division()(a, b);
    if (!std::isfinite(quotient) || quotient == 0) return quotient;
    return std::nextafter(quotient, edge == ApproximationEdge::high ? HUGE_VALF : -HUGE_VALF);
  }
};

// `.NaN`: NaN where one of them is.
template <class Operation>
struct OrNan {
  float operator()(float a, float b) const { return a != a || b != b ? std::nanf("") : Operation()(a, b); }
};

// `.xorsign.abs`: of the magnitudes, with the sign of the product.
template <class Operation>
struct OfMagnitudes {
  float operator()(float a, float b) const {
    const float magnitude = std::fabs(Operation()(std::fabs(a), std::fabs(b)));
    return std::signbit(a) != std::signbit(b) ? -magnitude : magnitude;
  }
};

template <class T, bool flush>
T prepared(T value) {
  if constexpr (flush) return flushed(value);
  return value;
}

template <class T, bool flush, bool saturate>
T finished(T value) {
  if constexpr (saturate) value = saturated(value);
  if constexpr (std::is_same_v<T, float>) value = with_one_nan(value);
  return prepared<T, flush>(value);
}

// Among several NaNs of double precision, sums and products of an H100 pass on the second source, then the
// third, then the first.
template <class Operation>
constexpr bool kIsSumOrProduct =
    std::is_same_v<Operation, Add> || std::is_same_v<Operation, Subtract> ||
    std::is_same_v<Operation, Multiply> || std::is_same_v<Operation, MultiplyAdd>;

template <class T, class Operation>
T computed(T a, T b, T c) {
  if constexpr (std::is_same_v<T, double> && kIsSumOrProduct<Operation>) {
    if (b != b) return quieted(b);
    if (c != c) return quieted(c);
  }
  if constexpr (std::is_invocable_v<Operation, T, T, T>) {
    return Operation()(a, b, c);
  } else if constexpr (std::is_invocable_v<Operation, T, T>) {
    return Operation()(a, b);
  } else {
    return Operation()(a);
  }
}

// Whether a result is flushed by `.ftz` although it is rounded to the least normal number: with 24 bits and
// without a limit of the exponent it would have been smaller. Sums and roots never are.
template <class Operation>
bool is_below_normal(float a, float b, float c, Rounding rounding, bool negative) {
  constexpr double kLeastNormal = 0x1p-126;
  constexpr double kNeighbour = kLeastNormal * (1 - 0x1p-24);
  constexpr double kHalfway = kLeastNormal * (1 - 0x1p-25);
  const bool grows = rounding == (negative ? Rounding::down : Rounding::up);
  const auto is_smaller = [&](double exact, double unit) {
    if (rounding == Rounding::nearest) return exact < kHalfway * unit;
    return grows ? exact <= kNeighbour * unit : exact < kLeastNormal * unit;
  };
  if constexpr (std::is_same_v<Operation, Multiply>) return is_smaller(std::fabs(double{a} * b), 1);
  if constexpr (std::is_same_v<Operation, MultiplyAdd>)
    return is_smaller(std::fabs(add_to_odd(double{a} * b, c)), 1);
  if constexpr (std::is_same_v<Operation, Divide>) return is_smaller(std::fabs(a), std::fabs(b));
  if constexpr (std::is_same_v<Operation, Reciprocal>) return is_smaller(1, std::fabs(a));
  return false;
}

template <class Operation>
float without_subnormals(float result, float a, float b, float c, Rounding rounding) {
  const bool is_small =
      result == result && is_below_normal<Operation>(a, b, c, rounding, std::signbit(result));
  return is_small ? std::copysign(0.0f, result) : result;
}

template <class T, class Operation>
constexpr bool kTakesThree = std::is_invocable_v<Operation, T, T, T>;
template <class T, class Operation>
constexpr bool kTakesTwo = kTakesThree<T, Operation> || std::is_invocable_v<Operation, T, T>;

template <class T, class Operation, bool flush, bool saturate>
void execute(Thread& thread, const Instruction& in) {
  const auto source = [&](int operand) { return prepared<T, flush>(read<T>(thread, in, operand)); };
  const T a = source(1);
  const T b = kTakesTwo<T, Operation> ? source(2) : T(0);
  const T c = kTakesThree<T, Operation> ? source(3) : T(0);
  T result = computed<T, Operation>(a, b, c);
  if constexpr (flush) result = without_subnormals<Operation>(result, a, b, c, Rounding::nearest);
  write(thread, in, 0, finished<T, flush, saturate>(result));
}

// Other roundings than to nearest use that of the host. The flags of `.ftz` and `.sat` are in the immediate
// value, because these instructions are rare.
constexpr std::int64_t kFlush = 1;
constexpr std::int64_t kSaturate = 2;

class HostRounding {
 public:
  explicit HostRounding(Rounding rounding) {
    std::fesetround(rounding == Rounding::zero   ? FE_TOWARDZERO
                    : rounding == Rounding::down ? FE_DOWNWARD
                                                 : FE_UPWARD);
  }
  ~HostRounding() { std::fesetround(FE_TONEAREST); }
  HostRounding(const HostRounding&) = delete;
  HostRounding& operator=(const HostRounding&) = delete;
};

template <class T, class Operation, Rounding rounding>
void execute_rounded(Thread& thread, const Instruction& in) {
  const auto source = [&](int operand) {
    const T value = read<T>(thread, in, operand);
    if constexpr (std::is_same_v<T, float>) {
      if ((in.immediate & kFlush) != 0) return flushed(value);
    }
    return value;
  };
  // Compilers do not know of roundings. What is volatile stays between the changes of the rounding.
  volatile T a = source(1);
  volatile T b = kTakesTwo<T, Operation> ? source(2) : T(0);
  volatile T c = kTakesThree<T, Operation> ? source(3) : T(0);
  volatile T rounded;
  {
    const HostRounding scope(rounding);
    rounded = computed<T, Operation>(T(a), T(b), T(c));
  }
  T result = rounded;
  if constexpr (std::is_same_v<T, float>) {
    if ((in.immediate & kFlush) != 0) result = without_subnormals<Operation>(result, a, b, c, rounding);
  }
  if ((in.immediate & kSaturate) != 0) result = saturated(result);
  if constexpr (std::is_same_v<T, float>) {
    result = with_one_nan(result);
    if ((in.immediate & kFlush) != 0) result = flushed(result);
  }
  write(thread, in, 0, result);
}

template <class T, class Operation>
Handler with_rounding(Draft& draft, Rounding rounding, bool flush, bool saturate) {
  if (rounding == Rounding::nearest) {
    if constexpr (std::is_same_v<T, float>) {
      if (flush) return saturate ? &execute<T, Operation, true, true> : &execute<T, Operation, true, false>;
    }
    if (flush) return nullptr;
    return saturate ? &execute<T, Operation, false, true> : &execute<T, Operation, false, false>;
  }
  draft.instruction.immediate = (flush ? kFlush : 0) | (saturate ? kSaturate : 0);
  if (rounding == Rounding::zero) return &execute_rounded<T, Operation, Rounding::zero>;
  if (rounding == Rounding::down) return &execute_rounded<T, Operation, Rounding::down>;
  return &execute_rounded<T, Operation, Rounding::up>;
}

template <class Operation>
Handler for_float(Draft& draft, Type type) {
  Modifiers& modifiers = draft.modifiers;
  const bool flush = modifiers.take("ftz");
  const bool saturate = modifiers.take("sat");
  const Rounding rounding = modifiers.take_rounding().value_or(Rounding::nearest);
  return type == Type::f32 ? with_rounding<float, Operation>(draft, rounding, flush, saturate)
                           : with_rounding<double, Operation>(draft, rounding, flush, saturate);
}

// For instructions that take neither a rounding nor `.sat`.
template <class Operation>
Handler for_single(Draft& draft) {
  const bool flush = draft.modifiers.take("ftz");
  return with_rounding<float, Operation>(draft, Rounding::nearest, flush, false);
}

template <class Operation>
Handler extremum(Draft& draft, Type type) {
  const bool with_nan = draft.modifiers.take("NaN");
  const bool of_magnitudes = draft.modifiers.take("xorsign");
  if (of_magnitudes && !draft.modifiers.take("abs")) return nullptr;
  if (!with_nan && !of_magnitudes) return for_float<Operation>(draft, type);
  if (type != Type::f32) return nullptr;
  if (!of_magnitudes) return for_single<OrNan<Operation>>(draft);
  return with_nan ? for_single<OfMagnitudes<OrNan<Operation>>>(draft)
                  : for_single<OfMagnitudes<Operation>>(draft);
}

template <class Division>
Handler approximate_division(Draft& draft) {
  switch (approximation_edge()) {
    case ApproximationEdge::low:
      return for_single<DivideAtEdge<Division, ApproximationEdge::low>>(draft);
    case ApproximationEdge::high:
      return for_single<DivideAtEdge<Division, ApproximationEdge::high>>(draft);
    case ApproximationEdge::none:
      break;
  }
  return for_single<Division>(draft);
}

Handler division(Draft& draft, Type type) {
  const bool approximate = draft.modifiers.take("approx");
  if (!approximate && !draft.modifiers.take("full")) return for_float<Divide>(draft, type);
  if (type != Type::f32) return nullptr;
  return approximate ? approximate_division<DivideApproximately>(draft) : approximate_division<Divide>(draft);
}

// abs and neg of double precision leave the sign of NaN.
template <class Operation>
struct OfNumber {
  double operator()(double a) const { return a != a ? quieted(a) : Operation()(a); }
};

template <class Operation>
Handler sign_change(Draft& draft, Type type) {
  const bool flush = draft.modifiers.take("ftz");
  if (type == Type::f64) return flush ? nullptr : &unary<double, OfNumber<Operation>>;
  return flush ? &execute<float, Operation, true, false> : &execute<float, Operation, false, false>;
}

}  // namespace floats

Handler float_arithmetic(Draft& draft, Type type) {
  using namespace floats;
  if (type != Type::f32 && type != Type::f64) return nullptr;
  const std::string& name = draft.modifiers.name();
  if (name == "add") return for_float<Add>(draft, type);
  if (name == "sub") return for_float<Subtract>(draft, type);
  if (name == "mul") return for_float<Multiply>(draft, type);
  if (name == "fma" || name == "mad") return for_float<MultiplyAdd>(draft, type);
  if (name == "div") return division(draft, type);
  if (name == "min") return extremum<Minimum>(draft, type);
  if (name == "max") return extremum<Maximum>(draft, type);
  if (name == "rcp") return for_float<Reciprocal>(draft, type);
  if (name == "sqrt") return for_float<SquareRoot>(draft, type);
  if (name == "abs") return sign_change<Absolute>(draft, type);
  if (name == "neg") return sign_change<Negate>(draft, type);
  return nullptr;
}

static Handler select_copysign(Draft& draft) {
  using namespace floats;
  const Type type = draft.modifiers.take_type();
  if (type == Type::f32) return &binary<float, CopySign>;
  return type == Type::f64 ? &binary<double, CopySign> : nullptr;
}

std::vector<OpcodeRow> opcodes_of_floats() {
  return {
      {"copysign", {&select_copysign, 3, 3, Result::first, Waits::never, &no_effect, &flow_of_number}},
  };
}

}  // namespace opgate::simulator
