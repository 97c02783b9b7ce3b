// Arithmetic of floating-point numbers where it is not that of C, and their conversions. A header of C and of
// C++, see c_types.h.
#pragma once

#ifdef __cplusplus
#include "numbers/c_types.h"

namespace opgate::simulator::semantics {
#endif

OPGATE_INLINE f32 f32_of(u32 bits) {
  f32 value;
  __builtin_memcpy(&value, &bits, 4);
  return value;
}
OPGATE_INLINE u32 bits_of_f32(f32 value) {
  u32 bits;
  __builtin_memcpy(&bits, &value, 4);
  return bits;
}
OPGATE_INLINE f64 f64_of(u64 bits) {
  f64 value;
  __builtin_memcpy(&value, &bits, 8);
  return value;
}
OPGATE_INLINE u64 bits_of_f64(f64 value) {
  u64 bits;
  __builtin_memcpy(&bits, &value, 8);
  return bits;
}

// NaN in single precision is always this one; the hardware passes no payloads on.
OPGATE_INLINE f32 with_one_nan(f32 value) { return value == value ? value : f32_of(0x7fffffffu); }

// A NaN of double precision passes its payload on, and is quiet then.
OPGATE_INLINE f64 quieted(f64 value) {
  return value == value ? value : f64_of(bits_of_f64(value) | (u64)1 << 51);
}

// Zero of the same sign for a subnormal number, as `.ftz` asks for.
OPGATE_INLINE f32 flushed(f32 value) {
  const u32 bits = bits_of_f32(value);
  return (bits & 0x7f800000u) == 0 ? f32_of(bits & 0x80000000u) : value;
}

// saturated: `.sat`, into [0, 1], and NaN becomes 0. min: the smaller one; of 0 and -0, -0; of a number and
// NaN, the number.
#define OPGATE_FLOATS(T, quiet, signbit)                                                                  \
  OPGATE_INLINE T OPGATE_NAMED(saturated, T)(T value) { return value > 0 ? (value < 1 ? value : 1) : 0; } \
  OPGATE_INLINE T OPGATE_NAMED(min, T)(T a, T b) {                                                        \
    return a != a ? quiet(b) : b != b ? a : a == b ? (signbit(a) ? a : b) : a < b ? a : b;                \
  }                                                                                                       \
  OPGATE_INLINE T OPGATE_NAMED(max, T)(T a, T b) {                                                        \
    return a != a ? quiet(b) : b != b ? a : a == b ? (signbit(a) ? b : a) : a > b ? a : b;                \
  }
OPGATE_FLOATS(f32, , __builtin_signbitf)
OPGATE_FLOATS(f64, quieted, __builtin_signbit)

// div.approx multiplies by the reciprocal, which is 0 for a large divisor.
OPGATE_INLINE f32 div_approx(f32 a, f32 b) {
  const u8 is_large = __builtin_fabsf(b) > 0x1p126f && !__builtin_isinf(b);
  return is_large ? a * __builtin_copysignf(0.0f, b) : a / b;
}

// To an integral number: to nearest, towards zero, down, up.
OPGATE_INLINE f64 integral_rn(f64 value) { return __builtin_nearbyint(value); }
OPGATE_INLINE f64 integral_rz(f64 value) { return __builtin_trunc(value); }
OPGATE_INLINE f64 integral_rm(f64 value) { return __builtin_floor(value); }
OPGATE_INLINE f64 integral_rp(f64 value) { return __builtin_ceil(value); }

// What is out of range becomes the nearest integer that there is. The largest integer of 64 bits is rounded
// up as a double, to the first number that is out of range. NaN becomes 0, or, if one of the types has 64
// bits, only the highest bit set.
#define OPGATE_INTEGER_OF_NAN(T, from_f64) \
  ((T)((from_f64) || sizeof(T) == 8 ? 1ull << (8 * sizeof(T) - 1) : 0))
#define OPGATE_TO_INTEGER(T, least, most)                            \
  OPGATE_INLINE T OPGATE_NAMED(to_integer, T)(f64 value, T of_nan) { \
    if (value != value) return of_nan;                               \
    if (value <= (f64)(least)) return (T)(least);                    \
    if (value >= (f64)(most)) return (T)(most);                      \
    return (T)value;                                                 \
  }
OPGATE_TO_INTEGER(u8, 0, 0xff)
OPGATE_TO_INTEGER(u16, 0, 0xffff)
OPGATE_TO_INTEGER(u32, 0, 0xffffffffu)
OPGATE_TO_INTEGER(u64, 0, 0xffffffffffffffffull)
OPGATE_TO_INTEGER(s8, -0x7f - 1, 0x7f)
OPGATE_TO_INTEGER(s16, -0x7fff - 1, 0x7fff)
OPGATE_TO_INTEGER(s32, -0x7fffffff - 1, 0x7fffffff)
OPGATE_TO_INTEGER(s64, -0x7fffffffffffffffll - 1, 0x7fffffffffffffffll)

// Numbers of 16 bits. To one of them, the only NaN is 0x7fff. The exponents of a half and of single precision
// differ by 112, if neither is special.
OPGATE_INLINE f32 f32_of_half(u32 half) {
  const u32 magnitude = (half & 0x7fffu) << 13;
  const u32 sign = (half & 0x8000u) << 16;
  if (magnitude >= 0x0f800000u) return f32_of(sign | 0x7f800000u | magnitude);
  return f32_of(sign | bits_of_f32(f32_of(magnitude) * 0x1p112f));
}
OPGATE_INLINE u16 half_of_f32(f32 value) {
  const u32 bits = bits_of_f32(value);
  const u32 sign = bits >> 16 & 0x8000u;
  const u32 magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return 0x7fff;
  if (magnitude >= 0x47800000u) return (u16)(sign | 0x7c00u);
  if (magnitude < 0x38800000u) return (u16)(sign | (bits_of_f32(f32_of(magnitude) + 0.5f) - 0x3f000000u));
  return (u16)(sign | (magnitude + 0xc8000fffu + (magnitude >> 13 & 1)) >> 13);
}
OPGATE_INLINE f32 f32_of_bfloat16(u32 bits) { return f32_of(bits << 16); }
OPGATE_INLINE u16 bfloat16_of_f32(f32 value) {
  const u32 bits = bits_of_f32(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return 0x7fff;
  return (u16)((bits + 0x7fffu + (bits >> 16 & 1)) >> 16);
}

// What atomic additions leave. In global memory, single precision has no subnormal numbers, and double
// precision passes NaN on as it is.
OPGATE_INLINE f32 OPGATE_NAMED(sum_in_shared, f32)(f32 old, f32 value) { return with_one_nan(old + value); }
OPGATE_INLINE f32 OPGATE_NAMED(sum_in_global, f32)(f32 old, f32 value) {
  return flushed(with_one_nan(flushed(old) + flushed(value)));
}
OPGATE_INLINE f64 OPGATE_NAMED(sum_in_shared, f64)(f64 old, f64 value) {
  return old != old ? quieted(old) : old + value;
}
OPGATE_INLINE f64 OPGATE_NAMED(sum_in_global, f64)(f64 old, f64 value) {
  return value != value ? value : old != old ? old : old + value;
}

#ifdef __cplusplus
}  // namespace opgate::simulator::semantics
#endif
