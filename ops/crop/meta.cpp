// The meta kernel of crop.
#include <torch/library.h>

#include "crop.h"

namespace opgate_ops {
namespace {

at::Tensor crop_meta(const at::Tensor& pic, c10::SymIntArrayRef box) {
  const Box pixels = check_crop(pic, box);
  return empty_image(pic.sym_size(0), pixels.height(), pixels.width(), pic.options());
}

}  // namespace
}  // namespace opgate_ops

TORCH_LIBRARY_IMPL(opgate_ops, Meta, m) { m.impl("crop", &opgate_ops::crop_meta); }
