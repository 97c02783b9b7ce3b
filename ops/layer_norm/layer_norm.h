// What the kernels of layer_norm share: the checks of their arguments, and their uninitialised results.
//
//   out = (input - mean) / sqrt(var + eps) * weight + bias            Ba, Kiros and Hinton 2016, equation 4
//
// over the last dimension, with the biased variance.
#pragma once

#include <ATen/OpMathType.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>

#include <cmath>
#include <tuple>
#include <vector>

#include "../common/checks.h"

namespace opgate_ops {

/// Calls the operator through the dispatcher. input [..., C] is Half, BFloat16, Float or Double, with any
/// strides; weight and bias are [C], of the same dtype and device. Statistics are computed in Float, or in
/// Double for Double. The result is contiguous. Throws c10::Error for other arguments, and for an eps that
/// is negative or not finite.
at::Tensor layer_norm(const at::Tensor& input, const at::Tensor& weight, const at::Tensor& bias,
                      double eps = 1e-5);

/// The same, with the mean and 1 / sqrt(var + eps) of each row: the three results of at::native_layer_norm.
/// The statistics are [..., 1], and of the dtype that they are computed in.
std::tuple<at::Tensor, at::Tensor, at::Tensor> layer_norm_with_statistics(const at::Tensor& input,
                                                                          const at::Tensor& weight,
                                                                          const at::Tensor& bias,
                                                                          double eps = 1e-5);

/// The gradients of input, weight and bias, contiguous, for `grad`, the gradient of the result. mean and rstd
/// are the statistics of input [..., C]: [..., 1], of their own dtype or of that of input. Sums over all rows
/// have a fixed order.
std::tuple<at::Tensor, at::Tensor, at::Tensor> layer_norm_backward(const at::Tensor& grad,
                                                                   const at::Tensor& input,
                                                                   const at::Tensor& mean,
                                                                   const at::Tensor& rstd,
                                                                   const at::Tensor& weight);

/// Checks weight or bias, which have one number for each column of input.
inline void check_per_column(const Named& x, const at::Tensor& input) {
  check_like(x, {x.op, "input", input});
  check_dims(x, 1);
  check_size(x, 0, input.sym_size(-1), "that of the last dimension of input");
}

inline void check_rows(const char* op, const at::Tensor& input, const at::Tensor& weight) {
  check_floating({op, "input", input});
  TORCH_CHECK(input.dim() > 0, op, ": input must have a dimension to normalise over, got 0 dimensions");
  check_per_column({op, "weight", weight}, input);
}

inline void check_layer_norm(const at::Tensor& input, const at::Tensor& weight, const at::Tensor& bias,
                             double eps) {
  constexpr auto op = "layer_norm";
  check_rows(op, input, weight);
  TORCH_CHECK(std::isfinite(eps) && eps >= 0, op, ": eps must be a number of 0 or more, got ", eps);
  check_per_column({op, "bias", bias}, input);
}

/// The dtype in which statistics are computed and kept.
inline at::ScalarType statistics_dtype(at::ScalarType dtype) { return at::toOpMathType(dtype); }

inline std::vector<c10::SymInt> statistics_sizes(const at::Tensor& input) {
  std::vector<c10::SymInt> sizes = input.sym_sizes().vec();
  sizes.back() = 1;
  return sizes;
}

/// Checks mean or rstd. A tensor that is not defined has another dtype.
inline void check_per_row(const Named& x, const at::Tensor& input) {
  const at::ScalarType dtype = x.tensor.scalar_type(), wanted = statistics_dtype(input.scalar_type());
  TORCH_CHECK(dtype == wanted || dtype == input.scalar_type(), x.op, ": ", x.name, " must have the dtype ",
              wanted, " or that of input, ", input.scalar_type(), ", got ", dtype);
  TORCH_CHECK(x.tensor.device() == input.device(), x.op, ": ", x.name, " must be on the device of input, ",
              input.device(), ", got ", x.tensor.device());
  check_dims(x, input.dim());
  for (int64_t dim = 0; dim + 1 < input.dim(); ++dim)
    check_size(x, dim, input.sym_size(dim), "that of input");
  check_size(x, -1, 1, "one number for each row");
}

inline void check_layer_norm_backward(const at::Tensor& grad, const at::Tensor& input, const at::Tensor& mean,
                                      const at::Tensor& rstd, const at::Tensor& weight) {
  constexpr auto op = "layer_norm_backward";
  check_rows(op, input, weight);
  check_like({op, "grad", grad}, {op, "input", input});
  check_same_sizes({op, "grad", grad}, {op, "input", input});
  check_per_row({op, "mean", mean}, input);
  check_per_row({op, "rstd", rstd}, input);
}

/// The uninitialised results of layer_norm_with_statistics.
inline std::tuple<at::Tensor, at::Tensor, at::Tensor> empty_with_statistics(const at::Tensor& input) {
  const auto options = input.options().dtype(statistics_dtype(input.scalar_type()));
  const std::vector<c10::SymInt> sizes = statistics_sizes(input);
  return {at::empty_symint(input.sym_sizes(), input.options()), at::empty_symint(sizes, options),
          at::empty_symint(sizes, options)};
}

/// The uninitialised gradients of input, weight and bias.
inline std::tuple<at::Tensor, at::Tensor, at::Tensor> empty_gradients(const at::Tensor& input,
                                                                      const at::Tensor& weight) {
  return {at::empty_symint(input.sym_sizes(), input.options()),
          at::empty_symint(weight.sym_sizes(), weight.options()),
          at::empty_symint(weight.sym_sizes(), weight.options())};
}

}  // namespace opgate_ops
