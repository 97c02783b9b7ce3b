// What identity_conv promises.
#include <ATen/ops/clone.h>
#include <opgate/spec.h>

using namespace opgate;

OPGATE_SPEC("opgate_ops::identity_conv", spec) {
  spec.dtypes(floating());
  spec.reference([](const at::Tensor& x) { return x.clone(); });
  spec.accuracy(exact());
  spec.promises({deterministic, thread_invariant, batch_invariant, capturable});
  for (const Shape& shape : {Shape{7}, {4, 8}, {2, 3, 257}, {1, 3, 16, 16}, {2, 3, 4, 5, 6}})
    spec.sample({uniform(shape)});
}
