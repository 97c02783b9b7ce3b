// Makes a header one of C and of C++. What an instruction does is written once: the interpreter includes the
// header, and its text comes before each kernel that is translated to C (compiled/prelude.h). Among
// functions with one name, one for each type, C++ chooses by the type; in C their names end in it: `div_s32`.
#pragma once

#ifdef __cplusplus
namespace opgate::simulator::semantics {
#define OPGATE_NAMED(name, T) name
#else
#define OPGATE_NAMED(name, T) name##_##T
#endif

#define OPGATE_INLINE static inline __attribute__((always_inline, unused))

typedef __UINT8_TYPE__ u8;
typedef __UINT16_TYPE__ u16;
typedef __UINT32_TYPE__ u32;
typedef __UINT64_TYPE__ u64;
typedef __INT8_TYPE__ s8;
typedef __INT16_TYPE__ s16;
typedef __INT32_TYPE__ s32;
typedef __INT64_TYPE__ s64;
typedef float f32;
typedef double f64;
typedef __int128 s128;
typedef unsigned __int128 u128;

#ifdef __cplusplus
}  // namespace opgate::simulator::semantics
#endif
