// What the kernels of layer_norm share: the checks of their arguments, and the number and length of rows.
//
//   out = (input - mean) / sqrt(var + eps) * weight + bias            Ba, Kiros and Hinton 2016, equation 4
//
// over the last dimension, with the biased variance.
#pragma once

#include <ATen/core/Tensor.h>

#include <cmath>
#include <tuple>

#include "../common/checks.h"

namespace opgate_ops {

/// Calls the operator through the dispatcher. input [..., C] is Half, BFloat16, Float or Double, with any
/// strides; weight and bias are [C], of the same dtype and device. Statistics are computed in Float, or in
/// Double for Double. The result is contiguous. Throws c10::Error for other arguments, and for an eps that
/// is negative or not finite.
at::Tensor layer_norm(const at::Tensor& input, const at::Tensor& weight, const at::Tensor& bias,
                      double eps = 1e-5);

/// The gradients of input, weight and bias, contiguous, for `grad`, the gradient of the result. Sums over
/// all rows have a fixed order. The statistics are computed again instead of saved, because the rows must
/// be read anyway.
std::tuple<at::Tensor, at::Tensor, at::Tensor> layer_norm_backward(const at::Tensor& grad,
                                                                   const at::Tensor& input,
                                                                   const at::Tensor& weight, double eps);

/// Checks weight or bias, which have one number for each column of input.
inline void check_per_column(const Named& x, const at::Tensor& input) {
  check_like(x, {x.op, "input", input});
  check_dims(x, 1);
  check_size(x, 0, input.sym_size(-1), "that of the last dimension of input");
}

inline void check_layer_norm(const char* op, const at::Tensor& input, const at::Tensor& weight, double eps) {
  check_floating({op, "input", input});
  TORCH_CHECK(input.dim() > 0, op, ": input must have a dimension to normalise over, got a tensor of none");
  check_per_column({op, "weight", weight}, input);
  TORCH_CHECK(std::isfinite(eps) && eps >= 0, op, ": eps must be a number of 0 or more, got ", eps);
}

inline void check_layer_norm(const at::Tensor& input, const at::Tensor& weight, const at::Tensor& bias,
                             double eps) {
  constexpr auto op = "layer_norm";
  check_layer_norm(op, input, weight, eps);
  check_per_column({op, "bias", bias}, input);
}

inline void check_layer_norm_backward(const at::Tensor& grad, const at::Tensor& input,
                                      const at::Tensor& weight, double eps) {
  constexpr auto op = "layer_norm_backward";
  check_layer_norm(op, input, weight, eps);
  check_like({op, "grad", grad}, {op, "input", input});
  check_same_sizes({op, "grad", grad}, {op, "input", input});
}

}  // namespace opgate_ops
