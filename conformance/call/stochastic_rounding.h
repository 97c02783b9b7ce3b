// Runs code with the rounding errors of a narrower dtype: in Double, with results that are rounded at random.
#pragma once

#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

#include <cstdint>

namespace opgate {

/// While this object lives, each Double result of an operator that this thread calls is rounded to a number
/// of `dtype` near it, up or down at random, where it is none already: moving data stays exact. Results of
/// several runs then differ by as much as rounding errors may change them (Parker, Monte Carlo arithmetic,
/// 1997; Vignes, A stochastic arithmetic for reliable scientific computation, 1993). Loops that call no
/// operator round as ever. Objects must not be nested.
class StochasticRounding {
 public:
  StochasticRounding(c10::ScalarType dtype, uint64_t seed);
  ~StochasticRounding();
  StochasticRounding(const StochasticRounding&) = delete;
  StochasticRounding& operator=(const StochasticRounding&) = delete;

  /// Rounds the elements in place.
  void round(const at::Tensor& tensor);

 private:
  c10::ScalarType dtype_;
  at::Generator generator_;
  c10::impl::IncludeDispatchKeyGuard included_;
};

}  // namespace opgate
