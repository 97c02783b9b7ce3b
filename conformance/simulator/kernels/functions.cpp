// Approximated functions of one number. Those of the hardware are computed in double precision and rounded
// once: they are better here than on a device.
#include <cmath>
#include <numbers>

#include "simulator/kernels/select.h"
#include "simulator/kernels/selectors.h"

namespace opgate::simulator {
namespace functions {

using Function = double (*)(double value);

double reciprocal(double value) { return 1 / value; }
double square_root(double value) { return std::sqrt(value); }
double reciprocal_root(double value) { return 1 / std::sqrt(value); }
double power_of_two(double value) { return std::exp2(value); }
double logarithm(double value) { return std::log2(value); }
double hyperbolic_tangent(double value) { return std::tanh(value); }

// The hardware takes turns, which are rounded to single precision first: the phase of a large argument is
// lost there, too.
double radians_of_turns(double value) {
  constexpr float kTurns = 0.15915494f;
  return 2 * std::numbers::pi * rounded_to_float(value * double{kTurns}, Rounding::zero);
}
double sine(double value) { return value == 0 ? value : std::sin(radians_of_turns(value)); }
double cosine(double value) { return std::cos(radians_of_turns(value)); }

template <Function function, bool flush>
void execute_float(Thread& thread, const Instruction& in) {
  const auto value = read<float>(thread, in, 1);
  const float result = with_one_nan(static_cast<float>(function(flush ? flushed(value) : value)));
  write(thread, in, 0, flush ? flushed(result) : result);
}

template <Function function>
void execute_double(Thread& thread, const Instruction& in) {
  write<double>(thread, in, 0, function(read<double>(thread, in, 1)));
}

// With `.ftz`, rcp and rsqrt of double precision compute the upper half; the lower one is 0.
template <Function function>
void execute_upper_half(Thread& thread, const Instruction& in) {
  double value = read<double>(thread, in, 1);
  if (std::fpclassify(value) == FP_SUBNORMAL) value = std::copysign(0.0, value);
  double result = function(value);
  if (std::fpclassify(result) == FP_SUBNORMAL) result = std::copysign(0.0, result);
  write(thread, in, 0, to_bits(result) & 0xffffffff00000000u);
}

// Only bf16 has `.ftz`, which is the immediate value.
double flushed_if(double value, const Instruction& in) {
  return in.immediate != 0 && std::fabs(value) < 0x1p-126 ? std::copysign(0.0, value) : value;
}

template <class Small, Function function>
void execute_small(Thread& thread, const Instruction& in) {
  write(thread, in, 0, rounded<Small>(flushed_if(function(to_double(read<Small>(thread, in, 1))), in)));
}

template <class Small, Function function>
void execute_small_pair(Thread& thread, const Instruction& in) {
  const auto both = read<std::uint32_t>(thread, in, 1);
  const auto half = [&](int shift) {
    const double value = flushed_if(function(to_double(from_bits<Small>(both >> shift))), in);
    return static_cast<std::uint32_t>(rounded<Small>(value).bits) << shift;
  };
  write(thread, in, 0, half(0) | half(16));
}

template <Function function>
Handler for_type(Draft& draft) {
  Modifiers& modifiers = draft.modifiers;
  if (!modifiers.take("approx")) return nullptr;
  const bool flush = modifiers.take("ftz");
  draft.instruction.immediate = flush ? 1 : 0;
  switch (modifiers.take_type()) {
    case Type::f32:
      return flush ? &execute_float<function, true> : &execute_float<function, false>;
    case Type::f64:
      return flush ? &execute_upper_half<function> : &execute_double<function>;
    case Type::f16:
      return flush ? nullptr : &execute_small<Half, function>;
    case Type::bf16:
      return &execute_small<Bfloat16, function>;
    case Type::f16x2:
      return flush ? nullptr : &execute_small_pair<Half, function>;
    case Type::bf16x2:
      return &execute_small_pair<Bfloat16, function>;
    default:
      return nullptr;
  }
}

}  // namespace functions

Handler select_function(Draft& draft) {
  using namespace functions;
  const std::string& name = draft.modifiers.name();
  if ((name == "rcp" || name == "sqrt") && !draft.modifiers.has("approx"))
    return float_arithmetic(draft, draft.modifiers.take_type());
  if (name == "rcp") return for_type<&reciprocal>(draft);
  if (name == "sqrt") return for_type<&square_root>(draft);
  if (name == "rsqrt") return for_type<&reciprocal_root>(draft);
  if (name == "ex2") return for_type<&power_of_two>(draft);
  if (name == "lg2") return for_type<&logarithm>(draft);
  if (name == "sin") return for_type<&sine>(draft);
  if (name == "cos") return for_type<&cosine>(draft);
  return for_type<&hyperbolic_tangent>(draft);
}

}  // namespace opgate::simulator
