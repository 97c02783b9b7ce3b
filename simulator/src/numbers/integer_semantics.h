// Arithmetic of integers, as PTX defines it where C does not. A header of C and of C++, see c_types.h.
#pragma once

#ifdef __cplusplus
#include "numbers/c_types.h"

namespace opgate::simulator::semantics {
#endif

// What is the same with a sign and without one. Sums and products wrap around, which they may do in an
// unsigned type only. Narrower types than that of 32 bits would be promoted to `int`, in which a product can
// overflow.
#define OPGATE_ARITHMETIC(T, Wrapping, Twice, bits)                                            \
  OPGATE_INLINE T OPGATE_NAMED(add, T)(T a, T b) { return (T)((Wrapping)a + (Wrapping)b); }    \
  OPGATE_INLINE T OPGATE_NAMED(sub, T)(T a, T b) { return (T)((Wrapping)a - (Wrapping)b); }    \
  OPGATE_INLINE T OPGATE_NAMED(neg, T)(T a) { return (T)(0 - (Wrapping)a); }                   \
  OPGATE_INLINE T OPGATE_NAMED(min, T)(T a, T b) { return a < b ? a : b; }                     \
  OPGATE_INLINE T OPGATE_NAMED(max, T)(T a, T b) { return a > b ? a : b; }                     \
  OPGATE_INLINE Twice OPGATE_NAMED(mul_wide, T)(T a, T b) { return (Twice)a * b; }             \
  OPGATE_INLINE T OPGATE_NAMED(mul_lo, T)(T a, T b) { return (T)((Wrapping)a * (Wrapping)b); } \
  OPGATE_INLINE T OPGATE_NAMED(mul_hi, T)(T a, T b) { return (T)(((Twice)a * b) >> bits); }    \
  OPGATE_INLINE T OPGATE_NAMED(mad_lo, T)(T a, T b, T c) {                                     \
    return (T)((Wrapping)a * (Wrapping)b + (Wrapping)c);                                       \
  }                                                                                            \
  OPGATE_INLINE T OPGATE_NAMED(mad_hi, T)(T a, T b, T c) {                                     \
    return (T)((Wrapping)(T)(((Twice)a * b) >> bits) + (Wrapping)c);                           \
  }

// PTX does not define division by zero. An H100 gives all bits set, as quotient and as remainder.
#define OPGATE_UNSIGNED(T, Wrapping, Twice, bits)                                        \
  OPGATE_ARITHMETIC(T, Wrapping, Twice, bits)                                            \
  OPGATE_INLINE T OPGATE_NAMED(abs, T)(T a) { return a; }                                \
  OPGATE_INLINE T OPGATE_NAMED(div, T)(T a, T b) { return (T)(b == 0 ? ~(T)0 : a / b); } \
  OPGATE_INLINE T OPGATE_NAMED(rem, T)(T a, T b) { return (T)(b == 0 ? ~(T)0 : a % b); }
OPGATE_UNSIGNED(u8, u32, u64, 8)
OPGATE_UNSIGNED(u16, u32, u64, 16)
OPGATE_UNSIGNED(u32, u32, u64, 32)
OPGATE_UNSIGNED(u64, u64, u128, 64)

// The quotient of the least number and -1 is that number.
#define OPGATE_SIGNED(T, Wrapping, Twice, bits)                                                    \
  OPGATE_ARITHMETIC(T, Wrapping, Twice, bits)                                                      \
  OPGATE_INLINE T OPGATE_NAMED(abs, T)(T a) { return (T)(a < 0 ? 0 - (Wrapping)a : (Wrapping)a); } \
  OPGATE_INLINE T OPGATE_NAMED(div, T)(T a, T b) {                                                 \
    return b == 0 ? (T)-1 : b == -1 ? (T)(0 - (Wrapping)a) : (T)(a / b);                           \
  }                                                                                                \
  OPGATE_INLINE T OPGATE_NAMED(rem, T)(T a, T b) { return b == 0 ? (T)-1 : b == -1 ? (T)0 : (T)(a % b); }
OPGATE_SIGNED(s8, u32, s64, 8)
OPGATE_SIGNED(s16, u32, s64, 16)
OPGATE_SIGNED(s32, u32, s64, 32)
OPGATE_SIGNED(s64, u64, s128, 64)

#ifdef __cplusplus
}  // namespace opgate::simulator::semantics
#endif
