// What the kernels of gelu_tanh share: the function of one element and its derivative, for every device.
//
//   gelu_tanh(x) = x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 x^3)))
//                = x * s(v),    s(v) = 1 / (1 + exp(-v)),    v = 2 sqrt(2 / pi) * (x + 0.044715 x^3)
//
// The first line is from Hendrycks and Gimpel 2016, section 2. The second line has no cancellation, whereas
// 1 + tanh loses every digit where x is below -5.
#pragma once

#include <ATen/core/Tensor.h>

#include "../common/checks.h"
#include "../common/exp2.h"
#include "../common/product.h"

namespace opgate_ops {

/// Calls the operator through the dispatcher. x is Half, BFloat16, Float or Double, of any shape and
/// strides, on the CPU or a CUDA device. The result has the metadata of at::empty_like(x). Throws
/// c10::Error for other dtypes.
at::Tensor gelu_tanh(const at::Tensor& x);

/// grad * d gelu_tanh / dx, with the metadata of at::empty_like(x). grad has the sizes, dtype and device of
/// x, and any strides.
at::Tensor gelu_tanh_backward(const at::Tensor& grad, const at::Tensor& x);

inline void check_gelu_tanh(const at::Tensor& x) { check_floating({"gelu_tanh", "x", x}); }

inline void check_gelu_tanh_backward(const at::Tensor& grad, const at::Tensor& x) {
  constexpr auto op = "gelu_tanh_backward";
  check_floating({op, "x", x});
  check_like({op, "grad", grad}, {op, "x", x});
  check_same_sizes({op, "grad", grad}, {op, "x", x});
}

namespace gelu {

inline constexpr double kSlope = 1.595769121605730711759;  // 2 sqrt(2 / pi)
inline constexpr double kCubic = 0.044715;

/// s(v) = top / bottom, and 1 - s(v) = rest / bottom.
template <typename T>
struct Sigmoid {
  T top, bottom, rest;
};

/// Limits x to +-64, where s(v) is 0 or 1 in every dtype; without it, x^3 would overflow, and infinity -
/// infinity is NaN.
template <typename T>
C10_HOST_DEVICE inline T bounded(T x) {
  return x > 64 ? T(64) : x < -64 ? T(-64) : x;
}

/// s(v(x)) within 3 ulps, for a bounded x. v / ln 2 is computed as a sum of two numbers, with the rounding
/// errors of products and sums (Dekker 1971): it reaches 150 where the result is close to 0, and there one
/// rounding error in it would be 100 ulps of the result.
template <typename T>
C10_HOST_DEVICE inline Sigmoid<T> sigmoid_of_cubic(T x) {
  // v / ln 2 = x (a + b x^2). Each constant is given as a double and its rounding error.
  constexpr double a = 2.3022081981443248, a_rest = 1.3132826040769712e-16;   // 2 sqrt(2 / pi) / ln 2
  constexpr double b = 0.1029432395800235, b_rest = -5.9781774007187444e-18;  // 0.044715 a
  constexpr T a_hi = T(a), a_lo = T((a - double(a_hi)) + a_rest);
  constexpr T b_hi = T(b), b_lo = T((b - double(b_hi)) + b_rest);
  const T square = rounded_product(x, x);
  const T square_lo = std::fma(x, x, -square);
  const T cubic = rounded_product(b_hi, square);
  const T cubic_lo = std::fma(b_hi, square, -cubic) + b_hi * square_lo + b_lo * square;
  const T sum = a_hi + cubic;
  const T virtual_cubic = sum - a_hi;
  const T sum_lo = (a_hi - (sum - virtual_cubic)) + (cubic - virtual_cubic) + cubic_lo + a_lo;
  const T v = rounded_product(x, sum);
  const T v_lo = std::fma(x, sum, -v) + x * sum_lo;
  // 2^-|v| never overflows, and underflows gradually where s does.
  const T power = exp2_of_sum(v < 0 ? v : -v, v < 0 ? v_lo : -v_lo);
  return {v < 0 ? power : T(1), 1 + power, v < 0 ? T(1) : power};
}

template <typename T>
C10_HOST_DEVICE inline T value(T x) {
  const auto s = sigmoid_of_cubic(bounded(x));
  return x * s.top / s.bottom;
}

/// d/dx (x s(v)) = s + x s (1 - s) dv/dx = s (1 + x (1 - s) dv/dx).
template <typename T>
C10_HOST_DEVICE inline T slope(T x) {
  x = bounded(x);
  const auto s = sigmoid_of_cubic(x);
  const T inner = T(kSlope) * std::fma(T(3 * kCubic) * x, x, T(1));
  return s.top / s.bottom * std::fma(x * (s.rest / s.bottom), inner, T(1));
}

}  // namespace gelu
}  // namespace opgate_ops
