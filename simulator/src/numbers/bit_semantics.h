// Shifts, fields of bits and permutations of bytes. A header of C and of C++, see c_types.h.
#pragma once

#ifdef __cplusplus
#include "numbers/c_types.h"

namespace opgate::simulator::semantics {
#endif

// A shift beyond the type shifts everything out.
#define OPGATE_SHIFTS(T, Unsigned, bits, beyond)             \
  OPGATE_INLINE T OPGATE_NAMED(shl, T)(T value, u32 by) {    \
    return (T)(by >= bits ? 0 : (u64)(Unsigned)value << by); \
  }                                                          \
  OPGATE_INLINE T OPGATE_NAMED(shr, T)(T value, u32 by) { return (T)(by >= bits ? beyond : value >> by); }
OPGATE_SHIFTS(u8, u8, 8, 0)
OPGATE_SHIFTS(u16, u16, 16, 0)
OPGATE_SHIFTS(u32, u32, 32, 0)
OPGATE_SHIFTS(u64, u64, 64, 0)
OPGATE_SHIFTS(s8, u8, 8, value >> 7)
OPGATE_SHIFTS(s16, u16, 16, value >> 15)
OPGATE_SHIFTS(s32, u32, 32, value >> 31)
OPGATE_SHIFTS(s64, u64, 64, value >> 63)

OPGATE_INLINE u32 OPGATE_NAMED(popc, u32)(u32 value) { return (u32)__builtin_popcount(value); }
OPGATE_INLINE u32 OPGATE_NAMED(popc, u64)(u64 value) { return (u32)__builtin_popcountll(value); }
OPGATE_INLINE u32 OPGATE_NAMED(clz, u32)(u32 value) { return value == 0 ? 32 : (u32)__builtin_clz(value); }
OPGATE_INLINE u32 OPGATE_NAMED(clz, u64)(u64 value) { return value == 0 ? 64 : (u32)__builtin_clzll(value); }

// Where a field begins and how long it is: of 32 bits, the lowest eight count. The instructions of 64 bits
// are made of several on an H100, which look at the whole number. What reaches beyond the value is filled
// with its sign if it has one.
#define OPGATE_FIELDS(U, S, bits, counting)                                                   \
  OPGATE_INLINE U ones_##U(u32 count) { return count >= bits ? ~(U)0 : ((U)1 << count) - 1; } \
  OPGATE_INLINE U OPGATE_NAMED(bfe, U)(U value, u32 at, u32 length) {                         \
    at &= counting;                                                                           \
    return (at < bits ? value >> at : 0) & ones_##U(length & counting);                       \
  }                                                                                           \
  OPGATE_INLINE U OPGATE_NAMED(bfe, S)(S given, u32 at, u32 length) {                         \
    const U value = (U)given;                                                                 \
    const U field = OPGATE_NAMED(bfe, U)(value, at, length);                                  \
    at &= counting;                                                                           \
    length &= counting;                                                                       \
    const u64 end = (u64)at + length - (length != 0 ? 1 : 0);                                 \
    const u32 top = end < bits - 1 ? (u32)end : bits - 1;                                     \
    const u32 present = at < bits ? (length < bits - at ? length : bits - at) : 0;            \
    return length != 0 && (value >> top & 1) != 0 ? field | ~ones_##U(present) : field;       \
  }                                                                                           \
  OPGATE_INLINE U OPGATE_NAMED(bfi, U)(U field, U into, u32 at, u32 length) {                 \
    at &= counting;                                                                           \
    const U mask = at < bits ? ones_##U(length & counting) << at : 0;                         \
    return (into & ~mask) | ((at < bits ? field << at : 0) & mask);                           \
  }
OPGATE_FIELDS(u32, s32, 32, 0xffu)
OPGATE_FIELDS(u64, s64, 64, 0xffffffffu)

// Row i of the table says what becomes of bits that are those of i in a, b and c. Without a loop, because
// compilers know the table.
OPGATE_INLINE u32 lop3(u32 a, u32 b, u32 c, u32 table) {
#define OPGATE_ROW(row, bits) ((0 - (table >> row & 1)) & (bits))
  return OPGATE_ROW(0, ~a & ~b & ~c) | OPGATE_ROW(1, ~a & ~b & c) | OPGATE_ROW(2, ~a & b & ~c) |
         OPGATE_ROW(3, ~a & b & c) | OPGATE_ROW(4, a & ~b & ~c) | OPGATE_ROW(5, a & ~b & c) |
         OPGATE_ROW(6, a & b & ~c) | OPGATE_ROW(7, a & b & c);
#undef OPGATE_ROW
}

// One of eight bytes. The upper bit of four replaces it by copies of its sign.
OPGATE_INLINE u32 byte_of(u64 bytes, u32 from) {
  const u32 byte = (u32)(bytes >> (8 * (from & 7))) & 0xff;
  return (from & 8) == 0 ? byte : (byte & 0x80) != 0 ? 0xff : 0;
}
OPGATE_INLINE u32 prmt(u32 a, u32 b, u32 control) {
  const u64 bytes = a | (u64)b << 32;
  return byte_of(bytes, control) | byte_of(bytes, control >> 4) << 8 | byte_of(bytes, control >> 8) << 16 |
         byte_of(bytes, control >> 12) << 24;
}

// 64 bits of which b is the upper half, shifted.
OPGATE_INLINE u32 funnel_extent(u32 by, u8 wraps) { return wraps ? by & 31 : by < 32 ? by : 32; }
OPGATE_INLINE u32 shf_l(u32 a, u32 b, u32 by, u8 wraps) {
  return (u32)((a | (u64)b << 32) << funnel_extent(by, wraps) >> 32);
}
OPGATE_INLINE u32 shf_r(u32 a, u32 b, u32 by, u8 wraps) {
  return (u32)((a | (u64)b << 32) >> funnel_extent(by, wraps));
}

#ifdef __cplusplus
}  // namespace opgate::simulator::semantics
#endif
