// What paste promises.
#include <opgate/spec.h>

#include "../common/image_spec.h"

using namespace opgate;

OPGATE_SPEC("opgate_ops::paste", spec) {
  spec.dtypes(opgate_ops::image_dtypes());
  spec.reference([](const at::Tensor& im1, const at::Tensor& im2, at::IntArrayRef coord) {
    at::Tensor out = im1.clone();
    out.narrow(1, coord[1], im2.size(1)).narrow(2, coord[0], im2.size(2)).copy_(im2);
    return out;
  });
  spec.accuracy(exact());
  spec.promises({clear_errors, fake_refuses, deterministic, thread_invariant, capturable, differentiable,
                 twice_differentiable});
  spec.sample({uniform({3, 8, 9}), uniform({3, 4, 5}), std::vector<int64_t>{0, 0}});
  spec.sample({uniform({3, 20, 30}), uniform({3, 18, 23}), std::vector<int64_t>{7, 2}});
  spec.sample({uniform({1, 6, 6}), uniform({1, 2, 0}), std::vector<int64_t>{2, 3}}).named("no pixels");
  spec.rejects("leaves on the right", {uniform({3, 8, 9}), uniform({3, 4, 5}), std::vector<int64_t>{5, 0}})
      .because("leaves im1");
  spec.rejects("begins before", {uniform({3, 8, 9}), uniform({3, 4, 5}), std::vector<int64_t>{0, -1}})
      .because("leaves im1");
  spec.rejects("other channels", {uniform({3, 8, 9}), uniform({1, 4, 5}), std::vector<int64_t>{0, 0}})
      .because("channels of im1");
  spec.rejects("three numbers", {uniform({3, 8, 9}), uniform({3, 4, 5}), std::vector<int64_t>{0, 0, 1}})
      .because("coord must be");
}
