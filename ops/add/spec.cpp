// What the overloads of add promise.
#include <ATen/TensorOperators.h>
#include <ATen/ops/add.h>
#include <opgate/spec.h>

#include <cmath>

using namespace opgate;

namespace {

Dtypes summable() {
  Dtypes dtypes = floating();
  for (const c10::ScalarType dtype : integral()) dtypes.push_back(dtype);
  dtypes.push_back(at::kBool);
  return dtypes;
}

}  // namespace

OPGATE_SPEC("opgate_ops::add.Tensor", spec) {
  spec.dtypes(summable());
  spec.reference([](const at::Tensor& x, const at::Tensor& other) { return at::add(x, other); });
  spec.accuracy(ulps(1).scaled_by_inputs());  // one rounding to the sum's dtype, and one of the sum
  spec.promises({clear_errors, fake_refuses, deterministic, layout_invariant, thread_invariant, capturable,
                 differentiable, twice_differentiable});
  spec.sample({uniform({7}), uniform({7})});
  spec.sample({uniform({4, 8}), uniform({8})});
  spec.sample({uniform({3, 1, 5}), uniform({2, 1})});
  spec.sample({uniform({2, 3, 4, 5}), uniform({2, 3, 4, 5})});
  spec.sample({uniform({4, 8}), uniform({4, 8}).of(at::kFloat)}).named("with float");
  spec.sample({uniform({4, 8}), uniform({8}).of(at::kInt)}).named("with int");
  spec.sample({uniform({4, 8}), uniform({}).of(at::kDouble)}).named("with a double of no dimensions");
  spec.sample({special({4, 40}), special({4, 40})}).named("special");
  for (const Shape& shape : {Shape{64, 64}, {1024, 1024}, {4096, 1024}})
    spec.bench({uniform(shape), uniform(shape)}).forward(0.95).backward(0.9);
  spec.bench({uniform({4096, 1024}), uniform({1024})}).forward(0.95).backward(0.9);
  spec.rejects("sizes that do not broadcast", {uniform({4, 8}), uniform({7})}).because("do not broadcast");
  spec.rejects("an unsigned dtype that PyTorch hardly knows",
               {uniform({4}), values({4}, {1, 2, 3, 4}).of(at::kUInt32)})
      .because("other must be Bool");
}

OPGATE_SPEC("opgate_ops::add.Scalar", spec) {
  spec.dtypes(summable());
  spec.reference([](const at::Tensor& x, const at::Scalar& other) { return at::add(x, other); });
  spec.accuracy(ulps(1), [](const at::Tensor& x, const at::Scalar& other) {
    return x.to(at::kDouble).abs() + std::abs(other.toDouble());
  });
  spec.promises({clear_errors, fake_refuses, deterministic, layout_invariant, thread_invariant,
                 batch_invariant, capturable, differentiable, twice_differentiable});
  spec.sample({uniform({7}), 1.0});
  spec.sample({uniform({4, 8}), -2});
  spec.sample({uniform({2, 3, 257}), 0.1});
  spec.sample({special({4, 40}), 1.5}).named("special");
  for (const Shape& shape : {Shape{64, 64}, {4096, 1024}}) spec.bench({uniform(shape), 1.0}).forward(0.95);
}
