// paste on the CPU.
#include <torch/library.h>

#include "../common/copy.h"
#include "../common/elementwise.h"
#include "paste.h"

namespace opgate_ops {
namespace {

at::Tensor paste_cpu(const at::Tensor& im1, const at::Tensor& im2, c10::SymIntArrayRef coord) {
  const Box pixels = check_paste(im1, im2, coord);
  at::Tensor out = empty_image(im1.size(0), im1.size(1), im1.size(2), im1.options());
  at::Tensor to = part(out, pixels.left.expect_int(), pixels.upper.expect_int(), im2.size(2), im2.size(1));
  with_element_of(im1.scalar_type(), [&](auto element) {
    elementwise<decltype(element)>(out, Same(), im1);
    elementwise<decltype(element)>(to, Same(), im2);
  });
  return out;
}

}  // namespace
}  // namespace opgate_ops

TORCH_LIBRARY_IMPL(opgate_ops, CPU, m) { m.impl("paste", &opgate_ops::paste_cpu); }
