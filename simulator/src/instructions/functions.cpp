// Approximated functions of one number. Those of the hardware are computed in double precision and rounded
// once: they are better here than on a device, unless OPGATE_SIM_APPROXIMATE moves them to the edge of what
// the manual of PTX allows.
#include <cmath>
#include <numbers>

#include "instructions/effects.h"
#include "instructions/flows.h"
#include "instructions/select.h"
#include "instructions/selectors.h"
#include "numbers/approximation.h"

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

// The errors that the manual of PTX documents, in each precision.
using Error = double (*)(double value, double result);

template <int tenths_of_bits>
double relative_error(double, double result) {
  return of_relative_error(result, tenths_of_bits / 10.0);
}

// Absolute where the logarithm is near 0.
double error_of_logarithm(double value, double result) {
  return value > 0.5 && value < 2 ? 0x1p-22 : of_relative_error(result, 22);
}

// Nothing is promised beyond the second range.
double error_of_sine(double value, double) {
  const double turns = std::fabs(value) / (2 * std::numbers::pi);
  return turns <= 1 ? std::exp2(-20.5) : turns <= 50 ? std::exp2(-14.7) : 0;
}

constexpr int kDigitsOfSingle = 24;
constexpr int kDigitsOfHalf = 11;
constexpr int kDigitsOfBfloat16 = 8;

template <Function exact, Error error, int digits, ApproximationEdge edge>
double at_edge(double value) {
  const double result = exact(value);
  return moved_to_edge(result, error(value, result), digits, edge);
}

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

// With `.ftz`, rcp and rsqrt of double precision compute the upper half of the result from that of the
// source. The lower halves count as 0.
template <Function function>
void execute_upper_half(Thread& thread, const Instruction& in) {
  double value = from_bits<double>(read<std::uint64_t>(thread, in, 1) & 0xffffffff00000000u);
  if (std::fpclassify(value) == FP_SUBNORMAL) value = std::copysign(0.0, value);
  double result = function(value);
  if (std::fpclassify(result) == FP_SUBNORMAL) result = std::copysign(0.0, result);
  write(thread, in, 0, to_bits(result) & 0xffffffff00000000u);
}

// Only bf16 has `.ftz`, which is the immediate value.
double flushed_if(double value, const Instruction& in) {
  return in.immediate != 0 && std::fabs(value) < 0x1p-126 ? std::copysign(0.0, value) : value;
}

template <class Small, bool is_pair, Function function>
void execute_small(Thread& thread, const Instruction& in) {
  const auto bits = read<std::uint32_t>(thread, in, 1);
  const auto half = [&](int shift) {
    const double value = flushed_if(function(to_double(from_bits<Small>(bits >> shift))), in);
    return static_cast<std::uint32_t>(rounded<Small>(value).bits) << shift;
  };
  write(thread, in, 0, half(0) | (is_pair ? half(16) : 0));
}

template <Function function>
Handler for_single(Draft& draft) {
  return draft.instruction.immediate != 0 ? &execute_float<function, true> : &execute_float<function, false>;
}

// A handler of the function in a precision, whose results lie where OPGATE_SIM_APPROXIMATE says.
template <Function exact, Error error, int digits, class Choose>
auto where_they_lie(Choose choose) {
  switch (approximation_edge()) {
    case ApproximationEdge::low:
      return choose.template operator()<&at_edge<exact, error, digits, ApproximationEdge::low>>();
    case ApproximationEdge::high:
      return choose.template operator()<&at_edge<exact, error, digits, ApproximationEdge::high>>();
    case ApproximationEdge::none:
      break;
  }
  return choose.template operator()<exact>();
}

template <Function exact, Error of_single, Error of_half = &relative_error<110>,
          Error of_bfloat16 = &relative_error<80>>
Handler for_type(Draft& draft) {
  Modifiers& modifiers = draft.modifiers;
  if (!modifiers.take("approx")) return nullptr;
  const bool flush = modifiers.take("ftz");
  draft.instruction.immediate = flush ? 1 : 0;
  const Type type = modifiers.take_type();
  if (type == Type::f32)
    return where_they_lie<exact, of_single, kDigitsOfSingle>(
        [&]<Function function>() { return for_single<function>(draft); });
  if (type == Type::f64) return flush ? &execute_upper_half<exact> : &execute_double<exact>;
  return for_small_float(type, [&]<class Small, bool is_pair>() -> Handler {
    constexpr bool kIsHalf = std::is_same_v<Small, Half>;
    if (kIsHalf && flush) return nullptr;
    constexpr Error kError = kIsHalf ? of_half : of_bfloat16;
    constexpr int kDigits = kIsHalf ? kDigitsOfHalf : kDigitsOfBfloat16;
    return where_they_lie<exact, kError, kDigits>(
        []<Function function>() { return &execute_small<Small, is_pair, function>; });
  });
}

}  // namespace functions

static Handler select_function(Draft& draft) {
  using namespace functions;
  const std::string& name = draft.modifiers.name();
  if ((name == "rcp" || name == "sqrt") && !draft.modifiers.has("approx"))
    return float_arithmetic(draft, draft.modifiers.take_type());
  if (name == "rcp") return for_type<&reciprocal, &relative_error<230>>(draft);
  if (name == "sqrt") return for_type<&square_root, &relative_error<230>>(draft);
  if (name == "rsqrt") return for_type<&reciprocal_root, &relative_error<229>>(draft);
  if (name == "ex2")
    return for_type<&power_of_two, &relative_error<220>, &relative_error<99>, &relative_error<70>>(draft);
  if (name == "lg2") return for_type<&logarithm, &error_of_logarithm>(draft);
  if (name == "sin") return for_type<&sine, &error_of_sine>(draft);
  if (name == "cos") return for_type<&cosine, &error_of_sine>(draft);
  return for_type<&hyperbolic_tangent, &relative_error<110>, &relative_error<109>, &relative_error<80>>(
      draft);
}

std::vector<OpcodeRow> opcodes_of_functions() {
  return {
      {{"ex2", "lg2", "sin", "cos", "tanh", "rcp", "sqrt", "rsqrt"},
       {&select_function, 2, 2, Result::first, Waits::never, &no_effect, &flow_of_number}},
  };
}

}  // namespace opgate::simulator
