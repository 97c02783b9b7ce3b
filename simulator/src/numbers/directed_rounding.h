// Results that are rounded down, up or towards zero, without a change of the host's rounding, which takes
// longer than all of this. A header of C and of C++, see c_types.h.
//
// An exact result is the sum of the nearest number of double precision and a rest, of which the sign matters.
// A direction is -1 for down, 1 for up, and 0 for towards zero.
#pragma once

#ifdef __cplusplus
#include "numbers/float_semantics.h"

namespace opgate::simulator::semantics {
#endif

// The rest of a sum, a quotient and a root, if nothing overflows or becomes too small.
OPGATE_INLINE f64 rest_of_sum(f64 a, f64 b) {
  const f64 sum = a + b;
  const f64 of_b = sum - a;
  return (a - (sum - of_b)) + (b - of_b);
}
OPGATE_INLINE f64 rest_of_quotient(f64 a, f64 b) {
  const f64 rest = __builtin_fma(-(a / b), b, a);
  return b < 0 ? -rest : rest;
}
OPGATE_INLINE f64 rest_of_root(f64 value) {
  const f64 root = __builtin_sqrt(value);
  return __builtin_fma(-root, root, value);
}

// The neighbour, which is further from zero or nearer to it.
OPGATE_INLINE f32 OPGATE_NAMED(next_above, f32)(f32 value) {
  const u32 bits = bits_of_f32(value);
  return f32_of(value == 0 ? 1 : value > 0 ? bits + 1 : bits - 1);
}
OPGATE_INLINE f64 OPGATE_NAMED(next_above, f64)(f64 value) {
  const u64 bits = bits_of_f64(value);
  return f64_of(value == 0 ? 1 : value > 0 ? bits + 1 : bits - 1);
}

OPGATE_INLINE u8 goes_up(f64 high, s32 direction) { return direction > 0 || (direction == 0 && high < 0); }

OPGATE_INLINE f32 rounded_f32(f64 high, f64 low, s32 direction) {
  const f32 nearest = (f32)high;
  if (!(__builtin_fabs(high) <= 0x1.fffffffffffffp1023)) return nearest;
  if (goes_up(high, direction))
    return nearest < high || (nearest == high && low > 0) ? OPGATE_NAMED(next_above, f32)(nearest) : nearest;
  return nearest > high || (nearest == high && low < 0) ? -OPGATE_NAMED(next_above, f32)(-nearest) : nearest;
}
OPGATE_INLINE f64 rounded_f64(f64 high, f64 low, s32 direction) {
  if (goes_up(high, direction)) return low > 0 ? OPGATE_NAMED(next_above, f64)(high) : high;
  return low < 0 ? -OPGATE_NAMED(next_above, f64)(-high) : high;
}

// A sum that is zero is -0 if it is rounded down, unless both numbers are 0.
OPGATE_INLINE f64 with_sign_of_zero(f64 sum, f64 a, f64 b, s32 direction) {
  return sum == 0 && direction < 0 && (__builtin_signbit(a) || __builtin_signbit(b)) ? -0.0 : sum;
}

OPGATE_INLINE f32 add_rounded_f32(f64 a, f64 b, s32 direction) {
  return rounded_f32(with_sign_of_zero(a + b, a, b, direction), rest_of_sum(a, b), direction);
}
OPGATE_INLINE f32 sub_rounded_f32(f64 a, f64 b, s32 direction) { return add_rounded_f32(a, -b, direction); }
OPGATE_INLINE f32 mul_rounded_f32(f64 a, f64 b, s32 direction) { return rounded_f32(a * b, 0, direction); }
OPGATE_INLINE f32 fma_rounded_f32(f64 a, f64 b, f64 c, s32 direction) {
  return add_rounded_f32(a * b, c, direction);
}
OPGATE_INLINE f32 div_rounded_f32(f64 a, f64 b, s32 direction) {
  return rounded_f32(a / b, rest_of_quotient(a, b), direction);
}
OPGATE_INLINE f32 rcp_rounded_f32(f64 a, s32 direction) { return div_rounded_f32(1, a, direction); }
OPGATE_INLINE f32 sqrt_rounded_f32(f64 a, s32 direction) {
  return rounded_f32(__builtin_sqrt(a), rest_of_root(a), direction);
}

// In double precision NaN is the result if the rest may be wrong, and if the result is NaN itself.
OPGATE_INLINE u8 is_of_middle_size(f64 value) {
  return __builtin_fabs(value) > 0x1p-900 && __builtin_fabs(value) < 0x1p900;
}
OPGATE_INLINE f64 add_rounded_f64(f64 a, f64 b, s32 direction) {
  const f64 sum = with_sign_of_zero(a + b, a, b, direction);
  return __builtin_fabs(sum) < 0x1p1000 ? rounded_f64(sum, rest_of_sum(a, b), direction) : __builtin_nan("");
}
OPGATE_INLINE f64 sub_rounded_f64(f64 a, f64 b, s32 direction) { return add_rounded_f64(a, -b, direction); }
OPGATE_INLINE f64 mul_rounded_f64(f64 a, f64 b, s32 direction) {
  const f64 product = a * b;
  if (!is_of_middle_size(product)) return a == 0 || b == 0 ? product : __builtin_nan("");
  return rounded_f64(product, __builtin_fma(a, b, -product), direction);
}
OPGATE_INLINE f64 div_rounded_f64(f64 a, f64 b, s32 direction) {
  const f64 quotient = a / b;
  if (!is_of_middle_size(quotient) || !is_of_middle_size(a)) return __builtin_nan("");
  return rounded_f64(quotient, rest_of_quotient(a, b), direction);
}
OPGATE_INLINE f64 rcp_rounded_f64(f64 a, s32 direction) { return div_rounded_f64(1, a, direction); }
OPGATE_INLINE f64 sqrt_rounded_f64(f64 a, s32 direction) {
  if (!is_of_middle_size(a)) return __builtin_nan("");
  return rounded_f64(__builtin_sqrt(a), rest_of_root(a), direction);
}

#ifdef __cplusplus
}  // namespace opgate::simulator::semantics
#endif
