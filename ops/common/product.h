// A product that no compiler makes one operation with a sum.
#pragma once

#include <c10/macros/Macros.h>

#include <type_traits>

namespace opgate_ops {

/// a * b, rounded; T is float or double. Error-free transformations (Dekker 1971) need products that are
/// rounded on their own. For CUDA, nvcc and ptxas make one fused operation of a product and a sum that uses
/// it: an H100 then gave results 9 ulps away, which PTX alone, and so the simulated device, does not show. On
/// the CPU -ffp-contract=off keeps them apart.
template <typename T>
C10_HOST_DEVICE inline T rounded_product(T a, T b) {
#ifdef __CUDA_ARCH__
  if constexpr (std::is_same_v<T, double>) {
    return __dmul_rn(a, b);
  } else {
    return __fmul_rn(a, b);
  }
#else
  return a * b;
#endif
}

}  // namespace opgate_ops
