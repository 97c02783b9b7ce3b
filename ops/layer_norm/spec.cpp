// What layer_norm and its derivative promise.
#include <ATen/TensorOperators.h>
#include <ATen/ops/layer_norm.h>
#include <opgate/spec.h>

#include <tuple>
#include <vector>

using namespace opgate;

namespace {

// The parts of the results, and the terms that they are sums of. The mean and the variance are accurate
// relative to the size of a row's terms.
struct Parts {
  at::Tensor y, y_terms, mean, rstd;
  Parts(const at::Tensor& input, double eps) {
    mean = input.mean(-1, true);
    rstd = ((input - mean).square().mean(-1, true) + eps).rsqrt();
    y = (input - mean) * rstd;
    y_terms = (input.abs() + input.abs().mean(-1, true)) * rstd;
  }
};

void promise_both(SpecWriter& spec) {
  spec.dtypes(floating());
  spec.promises({clear_errors, fake_refuses, deterministic, layout_invariant, thread_invariant,
                 batch_invariant, capturable, differentiable, twice_differentiable});
  spec.rejects("another size", {uniform({4, 8}), uniform({7}), uniform({7})})
      .because("weight must have size 8");
  spec.rejects("a scalar", {uniform({}), uniform({1}), uniform({1})}).because("input must have a dimension");
  spec.rejects("negative eps", {uniform({4, 8}), uniform({8}), uniform({8}), -1.0}).because("eps must be");
}

const std::vector<Shape> kShapes = {{1, 8}, {4, 32}, {2, 3, 257}, {70, 48}};

std::vector<Argument> forward_arguments(const Shape& shape) {
  const Shape columns{shape.back()};
  return {uniform(shape, -3, 5), uniform(columns), uniform(columns)};
}

std::vector<Argument> backward_arguments(const Shape& shape) {
  Shape rows = shape;
  rows.back() = 1;
  return {uniform(shape), uniform(shape, -3, 5), uniform(rows, -3, 5), uniform(rows, 0.2, 3),
          uniform({shape.back()})};
}

}  // namespace

OPGATE_SPEC("opgate_ops::layer_norm", spec) {
  promise_both(spec);
  spec.reference([](const at::Tensor& input, const at::Tensor& weight, const at::Tensor& bias, double eps) {
    return at::layer_norm(input, weight.sizes(), weight, bias, eps);
  });
  // The mean of a row of 257 has up to 8 roundings; a difference, two products and a sum add one each.
  spec.accuracy(ulps(8), [](const at::Tensor& input, const at::Tensor& weight, const at::Tensor& bias,
                            double eps) { return Parts(input, eps).y_terms * weight.abs() + bias.abs(); });
  for (const Shape& shape : kShapes) spec.sample(forward_arguments(shape));
  // In float32 and narrower, rows of 12281 to 12288 columns alone fit the 48 KiB of shared memory of a block
  // of CUDA, and do not beside its partial sums. One of them is enough, because such a sample takes seconds
  // on the simulated device.
  spec.sample(forward_arguments({1, 12284}));
  // The longest rows that a warp may handle: in float64, the rows of its block do not fit the shared memory.
  spec.sample(forward_arguments({3, 1000}));
  spec.sample({values({2, 4}, {1e4, 1e4, 1e4, 1e4 + 8, 3, 3, 3, 3}), uniform({4}), uniform({4}), 1e-3})
      .named("offset");
  spec.sample({uniform({4, 8}, -3, 5), uniform({8}), uniform({8}), 0.0}).named("no eps");
  for (const Shape& shape : {Shape{64, 256}, {1024, 1024}, {4096, 1024}, {512, 8192}, {256, 12288}})
    spec.bench({uniform(shape), uniform({shape[1]}), uniform({shape[1]})}).forward(0.95).backward(0.9);
}

OPGATE_SPEC("opgate_ops::layer_norm_with_statistics", spec) {
  promise_both(spec);
  // Not at::native_layer_norm, because its statistics have no gradients.
  spec.reference([](const at::Tensor& input, const at::Tensor& weight, const at::Tensor& bias, double eps) {
    const Parts parts(input, eps);
    return std::tuple(at::layer_norm(input, weight.sizes(), weight, bias, eps), parts.mean, parts.rstd);
  });
  // As for layer_norm. rstd changes by rstd^3 times the mean of the changes of (x - mean)^2 / 2.
  spec.accuracy(ulps(8),
                [](const at::Tensor& input, const at::Tensor& weight, const at::Tensor& bias, double eps) {
                  const Parts parts(input, eps);
                  return std::tuple(parts.y_terms * weight.abs() + bias.abs(), input.abs().mean(-1, true),
                                    parts.rstd * (1 + (parts.y.abs() * parts.y_terms).mean(-1, true)));
                });
  for (const Shape& shape : kShapes) spec.sample(forward_arguments(shape));
  // In float32, the running sums of these numbers are rounded in one direction: their mean is 16 ulps too
  // small until it is corrected.
  spec.sample({uniform({1, 4096}, 1.993, 1.993), uniform({4096}), uniform({4096})}).named("equal numbers");
}

OPGATE_SPEC("opgate_ops::layer_norm_backward", spec) {
  spec.dtypes(floating());
  spec.reference([](const at::Tensor& grad, const at::Tensor& input, const at::Tensor& mean,
                    const at::Tensor& rstd, const at::Tensor& weight) {
    const at::Tensor y = (input - mean) * rstd, h = grad * weight;
    const at::Tensor rows = (grad * y).reshape({-1, input.size(-1)});
    return std::tuple(rstd * (h - h.mean(-1, true) - y * (h * y).mean(-1, true)), rows.sum(0),
                      grad.reshape({-1, input.size(-1)}).sum(0));
  });
  // A mean has up to 8 roundings, and each term of the sums has 4.
  spec.accuracy(ulps(16), [](const at::Tensor& grad, const at::Tensor& input, const at::Tensor& mean,
                             const at::Tensor& rstd, const at::Tensor& weight) {
    const at::Tensor y = (input.abs() + mean.abs()) * rstd.abs(), h = (grad * weight).abs();
    const at::Tensor rows = (grad.abs() * y).reshape({-1, input.size(-1)});
    return std::tuple(rstd.abs() * (h + h.mean(-1, true) + y * (h * y).mean(-1, true)), rows.sum(0),
                      grad.abs().reshape({-1, input.size(-1)}).sum(0));
  });
  spec.promises({clear_errors, fake_refuses, deterministic, layout_invariant, thread_invariant, capturable,
                 differentiable, twice_differentiable});
  for (const Shape& shape : kShapes) spec.sample(backward_arguments(shape));
  spec.sample(backward_arguments({8}));       // its row is no dimension
  spec.sample(backward_arguments({200, 8}));  // more than two blocks of rows
  // The same for a row and its gradient: 6141 to 6144 columns.
  spec.sample(backward_arguments({1, 6142}));
  spec.sample(backward_arguments({3, 1000}));
  spec.rejects("another gradient",
               {uniform({4, 7}), uniform({4, 8}), uniform({4, 1}), uniform({4, 1}), uniform({8})})
      .because("grad must have");
  spec.rejects("statistics of columns",
               {uniform({4, 8}), uniform({4, 8}), uniform({1, 8}), uniform({4, 1}), uniform({8})})
      .because("of mean must have size 4");
  spec.rejects("statistics of integers", {uniform({4, 8}), uniform({4, 8}), uniform({4, 1}).of(at::kLong),
                                          uniform({4, 1}), uniform({8})})
      .because("mean must have the dtype");
}
