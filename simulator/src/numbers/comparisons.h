// What the comparisons of PTX mean, for a and b of any type.
#pragma once

#include <cstdint>
#include <optional>

#include "ptx/modifiers.h"

namespace opgate::simulator {

// With NaN, those up to `ge` and `num` are false, and the others true. The interpreter makes functions of the
// expressions, and the translation to C uses their texts.
// clang-format off
#define OPGATE_COMPARISONS(row) \
  row(eq, a == b)               \
  row(ne, a < b || a > b)       \
  row(lt, a < b)                \
  row(le, a <= b)               \
  row(gt, a > b)                \
  row(ge, a >= b)               \
  row(equ, !(a < b || a > b))   \
  row(neu, !(a == b))           \
  row(ltu, !(a >= b))           \
  row(leu, !(a > b))            \
  row(gtu, !(a <= b))           \
  row(geu, !(a < b))            \
  row(num, a <= b || a > b)     \
  row(nan, !(a <= b || a > b))
// clang-format on

#define OPGATE_COMPARISON(name, expression) name,
enum class Comparison : std::uint8_t { OPGATE_COMPARISONS(OPGATE_COMPARISON) };
#undef OPGATE_COMPARISON

/// The first comparison among the words; also lo, ls, hi and hs, which are lt, le, gt and ge of unsigned
/// integers.
std::optional<Comparison> take_comparison(Modifiers& modifiers);

/// Its expression in C, of a and b.
const char* in_c(Comparison comparison);

template <Comparison comparison, class T>
bool compare(T a, T b) {
#define OPGATE_COMPARISON(name, expression) \
  if constexpr (comparison == Comparison::name) return expression;
  OPGATE_COMPARISONS(OPGATE_COMPARISON)
#undef OPGATE_COMPARISON
}

}  // namespace opgate::simulator
