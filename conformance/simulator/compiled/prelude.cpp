#include "simulator/compiled/prelude.h"

namespace opgate::simulator {

// The functions have the semantics of the handlers in simulator/instructions, and of the operations in simulator/numbers. A NaN
// that arithmetic in single precision gives is always 0x7fffffff.
const char* const kPrelude = R"c(
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef signed char s8;
typedef short s16;
typedef int s32;
typedef long long s64;
typedef float f32;
typedef double f64;
typedef __int128 s128;
typedef unsigned __int128 u128;

struct window { u64 begin; u64 last; u64 to_host; };
struct context {
  u64* registers;
  u8* shared;
  u8* local;
  u8* parameters;
  struct window* windows;
  const u64* initial;
  const u64* frame_values;
  u64 shared_bytes;
  u64 local_bytes;
  u64 parameter_bytes;
  u64 thread_index[3];
  u64 linear_index;
  u64 end_index;
  u64 block_extent[2];
  u64 budget;
  u64 reserve;
  u64 together;
  u64* stops;
  u64** registers_of;
  s64 turn;
  s64 left;
  u64 next;
  u64* (*begin)(struct context*);
  void (*execute)(struct context*, u64, s64);
  u8* (*locate)(struct context*, u64, s64, u64, u64, u64);
  u64 (*compute)(struct context*, u64, u64, u64, u64);
  f64 (*exp2)(f64);
  f64 (*log2)(f64);
  f64 (*tanh)(f64);
  void* thread;
};

#define INLINE static inline __attribute__((always_inline, unused))
#define UNLIKELY(condition) __builtin_expect((condition), 0)

INLINE f32 f32_of(u32 bits) { f32 value; __builtin_memcpy(&value, &bits, 4); return value; }
INLINE u32 bits_of_f32(f32 value) { u32 bits; __builtin_memcpy(&bits, &value, 4); return bits; }
INLINE f64 f64_of(u64 bits) { f64 value; __builtin_memcpy(&value, &bits, 8); return value; }
INLINE u64 bits_of_f64(f64 value) { u64 bits; __builtin_memcpy(&bits, &value, 8); return bits; }

INLINE f32 one_nan(f32 value) { return value == value ? value : f32_of(0x7fffffffu); }
INLINE f32 flushed(f32 value) {
  const u32 bits = bits_of_f32(value);
  return (bits & 0x7f800000u) == 0 ? f32_of(bits & 0x80000000u) : value;
}
INLINE f32 saturated_f32(f32 value) { return value > 0 ? (value < 1 ? value : 1) : 0; }
INLINE f64 saturated_f64(f64 value) { return value > 0 ? (value < 1 ? value : 1) : 0; }

INLINE f32 div_approx(f32 a, f32 b) {
  if (!(__builtin_fabsf(b) > 0x1p126f) || __builtin_isinf(b)) return a / b;
  return a * __builtin_copysignf(0.0f, b);
}
#define EXTREMA(T, signbit)                                                                                  \
  INLINE T min_##T(T a, T b) {                                                                               \
    return a != a ? b : b != b ? a : a == b ? (signbit(a) ? a : b) : a < b ? a : b;                          \
  }                                                                                                          \
  INLINE T max_##T(T a, T b) {                                                                               \
    return a != a ? b : b != b ? a : a == b ? (signbit(a) ? b : a) : a > b ? a : b;                          \
  }
EXTREMA(f32, __builtin_signbitf)
EXTREMA(f64, __builtin_signbit)

#define DIVISIONS(T)                                                                                         \
  INLINE T div_##T(T a, T b) { return b == 0 ? (T)~(T)0 : (T)(a / b); }                                      \
  INLINE T rem_##T(T a, T b) { return b == 0 ? (T)~(T)0 : (T)(a % b); }
DIVISIONS(u8)
DIVISIONS(u16)
DIVISIONS(u32)
DIVISIONS(u64)
#define SIGNED_DIVISIONS(T, U)                                                                               \
  INLINE T div_##T(T a, T b) { return b == 0 ? (T)-1 : b == -1 ? (T)((U)0 - (U)a) : (T)(a / b); }            \
  INLINE T rem_##T(T a, T b) { return b == 0 ? (T)-1 : b == -1 ? 0 : (T)(a % b); }
SIGNED_DIVISIONS(s8, u8)
SIGNED_DIVISIONS(s16, u16)
SIGNED_DIVISIONS(s32, u32)
SIGNED_DIVISIONS(s64, u64)

#define SHIFTS(T, bits)                                                                                      \
  INLINE T shl_##T(T a, u32 by) { return by >= bits ? 0 : (T)((u64)a << by); }                               \
  INLINE T shr_##T(T a, u32 by) { return by >= bits ? 0 : (T)(a >> by); }
SHIFTS(u8, 8)
SHIFTS(u16, 16)
SHIFTS(u32, 32)
SHIFTS(u64, 64)
#define SIGNED_SHIFTS(T, U, bits)                                                                            \
  INLINE T shl_##T(T a, u32 by) { return by >= bits ? 0 : (T)((u64)(U)a << by); }                            \
  INLINE T shr_##T(T a, u32 by) { return (T)(a >> (by >= bits ? bits - 1 : by)); }
SIGNED_SHIFTS(s8, u8, 8)
SIGNED_SHIFTS(s16, u16, 16)
SIGNED_SHIFTS(s32, u32, 32)
SIGNED_SHIFTS(s64, u64, 64)

INLINE u32 ones_u32(u32 count) { return count >= 32 ? ~0u : (1u << count) - 1; }
INLINE u64 ones_u64(u32 count) { return count >= 64 ? ~0ull : (1ull << count) - 1; }
#define FIELDS(T, S, bits)                                                                                   \
  INLINE T bfe_##T(T value, u32 at, u32 length) {                                                            \
    return (at < bits ? value >> at : 0) & ones_##T(length);                                                 \
  }                                                                                                          \
  INLINE S bfe_##S(T value, u32 at, u32 length) {                                                            \
    const u64 end = (u64)at + length - (length != 0 ? 1 : 0);                                                \
    const u32 top = end < bits - 1 ? (u32)end : bits - 1;                                                    \
    const u32 given = at < bits ? (length < bits - at ? length : bits - at) : 0;                             \
    const T field = bfe_##T(value, at, length);                                                              \
    return (S)(length != 0 && (value >> top & 1) != 0 ? field | ~ones_##T(given) : field);                   \
  }                                                                                                          \
  INLINE T bfi_##T(T field, T into, u32 at, u32 length) {                                                    \
    const T mask = at < bits ? ones_##T(length) << at : 0;                                                   \
    return (into & ~mask) | ((at < bits ? field << at : 0) & mask);                                          \
  }
FIELDS(u32, s32, 32)
FIELDS(u64, s64, 64)

INLINE u32 permuted(u32 a, u32 b, u32 control) {
  const u64 bytes = a | (u64)b << 32;
  u32 result = 0;
  for (u32 place = 0; place < 4; ++place) {
    const u32 from = control >> (4 * place) & 15;
    u8 byte = (u8)(bytes >> (8 * (from & 7)));
    if ((from & 8) != 0) byte = (byte & 0x80) != 0 ? 0xff : 0;
    result |= (u32)byte << (8 * place);
  }
  return result;
}

#define TO_INTEGER(T, least, most)                                                                           \
  INLINE T to_##T(f64 value, T of_nan) {                                                                     \
    if (value != value) return of_nan;                                                                       \
    if (value <= (f64)(least)) return least;                                                                 \
    if (value >= (f64)(most)) return most;                                                                   \
    return (T)value;                                                                                         \
  }
TO_INTEGER(u8, 0, 0xff)
TO_INTEGER(u16, 0, 0xffff)
TO_INTEGER(u32, 0, 0xffffffffu)
TO_INTEGER(u64, 0, 0xffffffffffffffffull)
TO_INTEGER(s8, -0x7f - 1, 0x7f)
TO_INTEGER(s16, -0x7fff - 1, 0x7fff)
TO_INTEGER(s32, -0x7fffffff - 1, 0x7fffffff)
TO_INTEGER(s64, -0x7fffffffffffffffll - 1, 0x7fffffffffffffffll)

INLINE f32 f32_of_half(u32 half) {
  const u32 magnitude = (half & 0x7fffu) << 13;
  const u32 sign = (half & 0x8000u) << 16;
  if (magnitude > 0x0f800000u) return f32_of(0x7fffffffu);
  if (magnitude == 0x0f800000u) return f32_of(sign | 0x7f800000u);
  return f32_of(sign | bits_of_f32(f32_of(magnitude) * 0x1p112f));
}
INLINE u16 half_of_f32(f32 value) {
  const u32 bits = bits_of_f32(value);
  const u32 sign = bits >> 16 & 0x8000u;
  const u32 magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return 0x7fff;
  if (magnitude >= 0x47800000u) return (u16)(sign | 0x7c00u);
  if (magnitude < 0x38800000u) return (u16)(sign | (bits_of_f32(f32_of(magnitude) + 0.5f) - 0x3f000000u));
  return (u16)(sign | (magnitude + 0xc8000fffu + (magnitude >> 13 & 1)) >> 13);
}
INLINE f32 f32_of_bfloat16(u32 bits) { return f32_of(bits << 16); }
INLINE u16 bfloat16_of_f32(f32 value) {
  const u32 bits = bits_of_f32(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return 0x7fff;
  return (u16)((bits + 0x7fffu + (bits >> 16 & 1)) >> 16);
}

INLINE void next_thread(struct context* c) {
  ++c->linear_index;
  if (++c->thread_index[0] != c->block_extent[0]) return;
  c->thread_index[0] = 0;
  if (++c->thread_index[1] != c->block_extent[1]) return;
  c->thread_index[1] = 0;
  ++c->thread_index[2];
}
INLINE u8* global_at(struct context* c, u64 site, u64 index, s64 left, u64 address, u64 bytes, u64 how) {
  const struct window* const window = c->windows + site;
  // What is not a multiple becomes a large number.
  const u64 distance = address - window->begin;
  const u64 multiple = bytes == 1 ? distance : distance >> __builtin_ctzll(bytes) | distance << (64 - __builtin_ctzll(bytes));
  if (UNLIKELY(multiple >= window->last)) return c->locate(c, index, left, address, bytes, how);
  return (u8*)(address + window->to_host);
}
INLINE u8* own_at(struct context* c, u8* begin, u64 size, u64 index, s64 left, u64 address, u64 bytes, u64 how) {
  const u64 offset = address & 0xffffffffu;
  if (UNLIKELY((address & (bytes - 1)) != 0 || offset + bytes > size))
    return c->locate(c, index, left, address, bytes, how);
  return begin + offset;
}
#define LOADS(T)                                                                                             \
  INLINE T load_##T(const u8* from) { T value; __builtin_memcpy(&value, from, sizeof(T)); return value; }    \
  INLINE void store_##T(u8* to, T value) { __builtin_memcpy(to, &value, sizeof(T)); }
LOADS(u8)
LOADS(u16)
LOADS(u32)
LOADS(u64)
LOADS(s8)
LOADS(s16)
LOADS(s32)
LOADS(s64)
LOADS(f32)
LOADS(f64)
)c";

}  // namespace opgate::simulator
