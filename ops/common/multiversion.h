// One loop, compiled for each generation of the instruction set and chosen when the library is loaded.
#pragma once

/// Put it before a function or function template: its loops are vectorised for AVX-512, for AVX2 with FMA,
/// and for any x86-64, and the best version that the machine can run is used. Everything that the function
/// calls is inlined, so that it is vectorised, too. All versions give the same bits: no operation is
/// reordered, and std::fma rounds once everywhere (on machines without FMA in slow software).
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define OPGATE_OPS_MULTIVERSION \
  __attribute__((flatten, target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define OPGATE_OPS_MULTIVERSION
#endif
