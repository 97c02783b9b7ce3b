// crop on the CPU.
#include <torch/library.h>

#include "../common/copy.h"
#include "../common/elementwise.h"
#include "crop.h"

namespace opgate_ops {
namespace {

at::Tensor crop_cpu(const at::Tensor& pic, c10::SymIntArrayRef box) {
  const Box pixels = check_crop(pic, box);
  at::Tensor out = empty_image(pic.size(0), pixels.height(), pixels.width(), pic.options());
  const at::Tensor from =
      part(pic, pixels.left.expect_int(), pixels.upper.expect_int(), out.size(2), out.size(1));
  with_element_of(pic.scalar_type(),
                  [&](auto element) { elementwise<decltype(element)>(out, Same(), from); });
  return out;
}

}  // namespace
}  // namespace opgate_ops

TORCH_LIBRARY_IMPL(opgate_ops, CPU, m) { m.impl("crop", &opgate_ops::crop_cpu); }
