// What gelu_tanh and its derivative promise.
#include <ATen/ops/empty_like.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/gelu_backward.h>
#include <opgate/spec.h>

#include <algorithm>
#include <cmath>

using namespace opgate;

// Computed in long double (80 bits), because a double would lose as many digits of the exponent as the
// kernels under test.
struct Wide {
  long double s, rest, slope;  // s(v), 1 - s(v), dv/dx
  explicit Wide(long double x) {
    const long double root = std::sqrt(2 / std::acos(-1.0L));
    const long double v = 2 * root * x * (1 + 0.044715L * x * x);
    s = 1 / (1 + std::exp(-v));
    rest = 1 / (1 + std::exp(v));
    slope = 2 * root * (1 + 3 * 0.044715L * x * x);
  }
};

OPGATE_SPEC("opgate_ops::gelu_tanh", spec) {
  spec.dtypes(floating());
  spec.reference([](const at::Tensor& x) {
    if (x.requires_grad()) return at::gelu(x, "tanh");  // it is differentiable
    const at::Tensor from = x.cpu();
    at::Tensor out = at::empty_like(from);
    std::transform(from.const_data_ptr<double>(), from.const_data_ptr<double>() + from.numel(),
                   out.mutable_data_ptr<double>(), [](long double value) { return value * Wide(value).s; });
    return out.to(x.device());
  });
  // 3 ulps from s(v), and one each from a product and a quotient. Below -10, 2^-|v| is subnormal: half a
  // unit of it times x, which is -13.2 where the result becomes 0, is 7 ulps.
  spec.accuracy(ulps(8));
  spec.promises({clear_errors, fake_refuses, deterministic, layout_invariant, thread_invariant,
                 batch_invariant, capturable, differentiable, twice_differentiable});
  for (const Shape& shape : {Shape{7}, {4, 8}, {2, 3, 257}, {2, 3, 4, 5, 6}})
    spec.sample({uniform(shape, -6, 6)});
  spec.sample({special({6, 40})}).named("special");
  for (const Shape& shape : {Shape{64, 64}, {1024, 1024}, {4096, 1024}}) {
    spec.bench({uniform(shape, -6, 6)})
        .against([](const at::Tensor& x) { return at::gelu(x, "tanh"); })
        .forward(0.95)
        .backward(0.9);
  }
}

OPGATE_SPEC("opgate_ops::gelu_tanh_backward", spec) {
  spec.dtypes(floating());
  spec.reference([](const at::Tensor& grad, const at::Tensor& x) {
    if (grad.requires_grad() || x.requires_grad()) return at::gelu_backward(grad, x, "tanh");
    const at::Tensor from = x.cpu(), cotangent = grad.cpu();
    at::Tensor out = at::empty_like(from);
    std::transform(from.const_data_ptr<double>(), from.const_data_ptr<double>() + from.numel(),
                   cotangent.const_data_ptr<double>(), out.mutable_data_ptr<double>(),
                   [](long double value, long double g) {
                     if (std::isinf(value)) return value > 0 ? g : 0 * g;  // the limits: inf - inf is none
                     const Wide wide(value);
                     return g * wide.s * (1 + value * wide.rest * wide.slope);
                   });
    return out.to(x.device());
  });
  // 1 + x (1 - s) v' cancels around -0.75. Its terms have 5 roundings each, and s has an error of 3 ulps.
  spec.accuracy(ulps(8).scaled_by_inputs());
  spec.promises({clear_errors, fake_refuses, deterministic, layout_invariant, thread_invariant,
                 batch_invariant, capturable, differentiable, twice_differentiable});
  for (const Shape& shape : {Shape{7}, {4, 8}, {2, 3, 257}})
    spec.sample({uniform(shape), uniform(shape, -6, 6)});
}
