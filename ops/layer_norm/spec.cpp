// What layer_norm and its derivative promise.
#include <ATen/TensorOperators.h>
#include <ATen/ops/layer_norm.h>
#include <opgate/spec.h>

using namespace opgate;

namespace {

// The terms that the results are sums of. The mean and the variance are accurate relative to the size of a
// row's terms.
struct Parts {
  at::Tensor y, y_terms, rstd;
  Parts(const at::Tensor& input, double eps) {
    const at::Tensor mean = input.mean(-1, true);
    rstd = ((input - mean).square().mean(-1, true) + eps).rsqrt();
    y = (input - mean) * rstd;
    y_terms = (input.abs() + input.abs().mean(-1, true)) * rstd;
  }
};

void shapes(SpecWriter& spec, bool backward) {
  for (const Shape& shape : {Shape{1, 8}, {4, 32}, {2, 3, 257}, {70, 48}}) {
    const Shape columns{shape.back()};
    if (backward) spec.sample({uniform(shape), uniform(shape, -3, 5), uniform(columns), 1e-5});
    if (!backward) spec.sample({uniform(shape, -3, 5), uniform(columns), uniform(columns)});
  }
}

}  // namespace

OPGATE_SPEC("opgate_ops::layer_norm", spec) {
  spec.dtypes(floating());
  spec.reference([](const at::Tensor& input, const at::Tensor& weight, const at::Tensor& bias, double eps) {
    return at::layer_norm(input, weight.sizes(), weight, bias, eps);
  });
  // The mean of a row of 257 has up to 8 roundings; a difference, two products and a sum add one each.
  spec.accuracy(ulps(8), [](const at::Tensor& input, const at::Tensor& weight, const at::Tensor& bias,
                            double eps) { return Parts(input, eps).y_terms * weight.abs() + bias.abs(); });
  spec.promises({clear_errors, deterministic, layout_invariant, thread_invariant, batch_invariant, capturable,
                 differentiable, twice_differentiable});
  shapes(spec, false);
  // In float32 and narrower, nearly the longest row that a block of CUDA keeps in its 48 KiB of shared memory.
  spec.sample({uniform({1, 12284}, -3, 5), uniform({12284}), uniform({12284})});
  spec.sample({values({2, 4}, {1e4, 1e4, 1e4, 1e4 + 8, 3, 3, 3, 3}), uniform({4}), uniform({4}), 1e-3})
      .named("offset");
  for (const Shape& shape : {Shape{64, 256}, {1024, 1024}, {4096, 1024}, {512, 8192}})
    spec.bench({uniform(shape), uniform({shape[1]}), uniform({shape[1]})}).forward(0.95).backward(0.9);
  spec.rejects("another size", {uniform({4, 8}), uniform({7}), uniform({7})})
      .because("weight must have size 8");
  spec.rejects("a scalar", {uniform({}), uniform({1}), uniform({1})}).because("input must have a dimension");
  spec.rejects("negative eps", {uniform({4, 8}), uniform({8}), uniform({8}), -1.0}).because("eps must be");
}

OPGATE_SPEC("opgate_ops::layer_norm_backward", spec) {
  spec.dtypes(floating());
  spec.reference([](const at::Tensor& grad, const at::Tensor& input, const at::Tensor& weight, double eps) {
    const Parts parts(input, eps);
    const at::Tensor h = grad * weight;
    const at::Tensor rows = (grad * parts.y).reshape({-1, input.size(-1)});
    return std::tuple(parts.rstd * (h - h.mean(-1, true) - parts.y * (h * parts.y).mean(-1, true)),
                      rows.sum(0), grad.reshape({-1, input.size(-1)}).sum(0));
  });
  // A mean has up to 8 roundings, and each term of the sums has 4.
  spec.accuracy(
      ulps(16), [](const at::Tensor& grad, const at::Tensor& input, const at::Tensor& weight, double eps) {
        const Parts parts(input, eps);
        const at::Tensor h = (grad * weight).abs();
        const at::Tensor rows = (grad.abs() * parts.y_terms).reshape({-1, input.size(-1)});
        return std::tuple(
            parts.rstd * (h + h.mean(-1, true) + parts.y_terms * (h * parts.y_terms).mean(-1, true)),
            rows.sum(0), grad.abs().reshape({-1, input.size(-1)}).sum(0));
      });
  spec.promises({clear_errors, deterministic, layout_invariant, thread_invariant, capturable, differentiable,
                 twice_differentiable});
  shapes(spec, true);
  // The same for a row and its gradient.
  spec.sample({uniform({1, 6142}), uniform({1, 6142}, -3, 5), uniform({6142}), 1e-5});
  spec.rejects("another gradient", {uniform({4, 7}), uniform({4, 8}), uniform({8}), 1e-5})
      .because("grad must have");
}
