// What sin_out promises.
#include <ATen/ops/sin.h>
#include <opgate/spec.h>

using namespace opgate;

OPGATE_SPEC("opgate_ops::sin_out", spec) {
  spec.dtypes(floating());
  spec.reference([](const at::Tensor& input, const at::Tensor& output) { output.copy_(input.sin()); });
  spec.accuracy(ulps(2));  // the C library promises 1 ulp for sinf and sin, and CUDA promises 2
  spec.promises({clear_errors, fake_refuses, deterministic, layout_invariant, thread_invariant,
                 batch_invariant, capturable, differentiable});
  spec.sample({uniform({3}, -8, 8), uniform({3})});
  spec.sample({uniform({0, 3}), uniform({0, 3})});
  spec.sample({uniform({1, 2, 3, 4}, -1000, 1000), uniform({1, 2, 3, 4})});
  spec.sample({special({4, 40}), uniform({4, 40})}).named("special");
  spec.rejects("another size", {uniform({3}), uniform({4})})
      .because("output must have the sizes of input, [3], got [4]");
}
