// Included first by every source that has mutants. A process has one list of them: the first instrumented
// library that is loaded defines it, and OpGate finds it by its name.
#pragma once

#include <type_traits>

#ifndef OPGATE_MUTANTS
#define OPGATE_MUTANTS 1024
#endif

/// Which mutant runs in this process (0: none), and, if `chosen` is negative, which of them are reached.
struct OpGateMutants {
  int chosen = 0;
  unsigned char reached[OPGATE_MUTANTS] = {};
  /// Called after `chosen` has changed, and before `reached` is read: device code has copies of both.
  using Copier = void (*)(OpGateMutants& mutants, bool back);
  Copier copiers[64] = {};
  int number_of_copiers = 0;
};

extern "C" {
__attribute__((visibility("default"))) inline OpGateMutants opgate_process_mutants = {};
}

namespace opgate_mutants_detail {

#if defined(__CUDACC__)
// Each translation unit of CUDA has variables of its own on the device.
static __constant__ int chosen_on_device = 0;
static __device__ unsigned char reached_on_device[OPGATE_MUTANTS] = {};

inline void copy_reached(OpGateMutants& mutants, const unsigned char* reached) {
  for (int number = 0; number < OPGATE_MUTANTS; ++number) mutants.reached[number] |= reached[number];
}

static void copy(OpGateMutants& mutants, bool back) {
  if (!back) {
    cudaMemcpyToSymbol(chosen_on_device, &mutants.chosen, sizeof(int));
    return;
  }
  static unsigned char reached[OPGATE_MUTANTS];
  if (cudaMemcpyFromSymbol(reached, reached_on_device, sizeof(reached)) != cudaSuccess) return;
  copy_reached(mutants, reached);
}

struct Registered {
  Registered() {
    if (opgate_process_mutants.number_of_copiers < 64)
      opgate_process_mutants.copiers[opgate_process_mutants.number_of_copiers++] = &copy;
  }
};
static const Registered registered;
#endif

}  // namespace opgate_mutants_detail

namespace opgate_mutants {

#if defined(__CUDACC__)
#define OPGATE_HOST_DEVICE __host__ __device__
#else
#define OPGATE_HOST_DEVICE
#endif

/// Whether this mutant is the chosen one. What the compiler evaluates is never a mutant.
OPGATE_HOST_DEVICE constexpr bool is(int number) {
  if (__builtin_is_constant_evaluated()) return false;
#if defined(__CUDA_ARCH__)
  const int chosen = opgate_mutants_detail::chosen_on_device;
  if (chosen < 0) opgate_mutants_detail::reached_on_device[number] = 1;
  return chosen == number;
#else
  const int chosen = opgate_process_mutants.chosen;
  if (chosen < 0) opgate_process_mutants.reached[number] = 1;
  return chosen == number;
#endif
}

/// Rounds a sum to a type with half as many bits of precision. Integers are left alone.
template <typename T>
OPGATE_HOST_DEVICE inline void narrowed(int number, T& sum) {
  if constexpr (std::is_same_v<T, double>) {
    if (is(number)) sum = static_cast<float>(sum);
  } else if constexpr (std::is_same_v<T, float>) {
    if (!is(number)) return;
    union {
      float value;
      unsigned bits;
    } number_of{sum};
    number_of.bits = (number_of.bits + 0x8000u) & 0xffff0000u;  // bfloat16
    sum = number_of.value;
  }
}

/// The same tensor with its last two dimensions the other way round in memory.
template <typename Tensor>
inline Tensor transposed(bool chosen, Tensor tensor) {
  if (!chosen || tensor.dim() < 2) return tensor;
  return tensor.transpose(-1, -2).clone().transpose(-1, -2);
}

}  // namespace opgate_mutants
