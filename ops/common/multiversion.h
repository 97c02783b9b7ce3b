// One loop, compiled for each generation of the instruction set and chosen when the library is loaded.
#pragma once

/// Before a function or function template: its loops are vectorised for AVX-512, for AVX2 with FMA, and for
/// any x86-64; the best that the machine has is taken. All that it calls is inlined, for the same reason.
/// Results have the same bits on each: no operation is reordered, and std::fma rounds once everywhere
/// (without FMA in slow software).
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define OPGATE_OPS_MULTIVERSION \
  __attribute__((flatten, target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define OPGATE_OPS_MULTIVERSION
#endif
