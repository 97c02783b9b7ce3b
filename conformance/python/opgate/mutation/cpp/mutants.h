// Included first by every source that has mutants. A process has one list of them: the first instrumented
// library that is loaded defines it, and OpGate finds it by its name.
#ifndef OPGATE_MUTANTS_INCLUDED
#define OPGATE_MUTANTS_INCLUDED

// A mutant may look like a mistake, and that is what it is.
#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Wparentheses"
#pragma GCC diagnostic ignored "-Wsign-compare"
#pragma GCC diagnostic ignored "-Wtype-limits"
#pragma GCC diagnostic ignored "-Wunused-variable"
#pragma GCC diagnostic ignored "-Wunused-value"
#endif

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

// What OpGate calls. They are found by their names, so that each library has them.
extern "C" {

__attribute__((used, visibility("default"))) inline void opgate_choose_mutant(int number) {
  opgate_process_mutants.chosen = number;
  for (int i = 0; i < opgate_process_mutants.number_of_copiers; ++i)
    opgate_process_mutants.copiers[i](opgate_process_mutants, /*back=*/false);
}

/// Writes the numbers of those that were reached since the last call, and returns how many there are.
__attribute__((used, visibility("default"))) inline int opgate_reached_mutants(int* numbers, int most) {
  for (int i = 0; i < opgate_process_mutants.number_of_copiers; ++i)
    opgate_process_mutants.copiers[i](opgate_process_mutants, /*back=*/true);
  int count = 0;
  for (int number = 0; number < OPGATE_MUTANTS; ++number) {
    if (opgate_process_mutants.reached[number] && count < most) numbers[count++] = number;
    opgate_process_mutants.reached[number] = 0;
  }
  return count;
}

}  // extern "C"

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

/// Rounds a sum to a type with half as many bits of precision, and returns it. Integers are left alone.
template <typename T>
OPGATE_HOST_DEVICE inline T& narrowed(int number, T& sum) {
  if constexpr (std::is_same_v<T, double>) {
    if (is(number)) sum = static_cast<float>(sum);
  } else if constexpr (std::is_same_v<T, float>) {
    if (is(number)) {
      unsigned bits = 0;
      __builtin_memcpy(&bits, &sum, sizeof(bits));
      bits = (bits + 0x8000u) & 0xffff0000u;  // bfloat16
      __builtin_memcpy(&sum, &bits, sizeof(bits));
    }
  }
  return sum;
}

/// The same tensor with its last two dimensions the other way round in memory, if it has two.
template <typename Tensor>
inline Tensor transposed(int number, Tensor tensor) {
  if (tensor.dim() < 2 || tensor.transpose(-1, -2).is_contiguous() || !is(number)) return tensor;
  return tensor.transpose(-1, -2).contiguous().transpose(-1, -2);
}

}  // namespace opgate_mutants

#endif  // OPGATE_MUTANTS_INCLUDED
