// What crop promises.
#include <opgate/spec.h>

#include "../common/image_spec.h"

using namespace opgate;

OPGATE_SPEC("opgate_ops::crop", spec) {
  spec.dtypes(opgate_ops::image_dtypes());
  spec.reference([](const at::Tensor& pic, at::IntArrayRef box) {
    return pic.narrow(1, box[1], box[3] - box[1]).narrow(2, box[0], box[2] - box[0]).clone();
  });
  spec.accuracy(exact());
  spec.promises({clear_errors, fake_refuses, deterministic, thread_invariant, capturable, differentiable,
                 twice_differentiable});
  spec.sample({uniform({3, 8, 9}), std::vector<int64_t>{0, 0, 5, 4}});
  spec.sample({uniform({3, 20, 30}), std::vector<int64_t>{7, 2, 30, 20}});
  spec.sample({uniform({1, 6, 6}), std::vector<int64_t>{2, 3, 2, 5}}).named("no pixels");
  spec.rejects("leaves on the right", {uniform({3, 8, 9}), std::vector<int64_t>{0, 0, 10, 4}})
      .because("leaves pic");
  spec.rejects("begins before", {uniform({3, 8, 9}), std::vector<int64_t>{-1, 0, 5, 4}})
      .because("leaves pic");
  spec.rejects("inverted", {uniform({3, 8, 9}), std::vector<int64_t>{5, 0, 4, 4}}).because("inverted");
  spec.rejects("three numbers", {uniform({3, 8, 9}), std::vector<int64_t>{5, 0, 4}}).because("box must be");
  spec.rejects("two dimensions", {uniform({8, 9}), std::vector<int64_t>{0, 0, 5, 4}})
      .because("pic must be an image");
}
