// What matmul promises.
#include <ATen/ops/mm.h>
#include <opgate/spec.h>

using namespace opgate;

OPGATE_SPEC("opgate_ops::matmul", spec) {
  spec.dtypes(floating());
  spec.reference([](const at::Tensor& a, const at::Tensor& b) { return at::mm(a, b); });
  // A sum of K <= 300 terms has an error of at most sqrt(K) ulps at the scale of the terms, except with
  // negligible probability (Higham and Mary 2019, A New Approach to Probabilistic Rounding Error Analysis).
  spec.accuracy(ulps(18).scaled_by_inputs());
  spec.promises({clear_errors, fake_refuses, deterministic, layout_invariant, thread_invariant,
                 batch_invariant, capturable, differentiable, twice_differentiable});
  spec.sample({uniform({3, 5}), uniform({5, 4})});
  spec.sample({uniform({1, 300}), uniform({300, 1})});
  spec.sample({uniform({13, 300}), uniform({300, 33})});
  spec.sample({uniform({70, 64}), uniform({64, 70})});
  for (const int64_t n : {256, 512, 1024, 2048})
    spec.bench({uniform({n, n}), uniform({n, n})}).forward(0.5).forward(c10::kCUDA, 0.6);
  spec.bench({uniform({1000, 100}), uniform({100, 200})}).named("1000x100 by 100x200").forward(0.5);
  spec.rejects("sizes that do not fit", {uniform({3, 5}), uniform({4, 3})})
      .because("dimension 0 of b must have size 5");
  spec.rejects("three dimensions", {uniform({2, 3, 5}), uniform({5, 3})}).because("a must have 2 dimensions");
}
