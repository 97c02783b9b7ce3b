// The meta kernel of paste.
#include <torch/library.h>

#include "paste.h"

namespace opgate_ops {
namespace {

at::Tensor paste_meta(const at::Tensor& im1, const at::Tensor& im2, c10::SymIntArrayRef coord) {
  check_paste(im1, im2, coord);
  return empty_image(im1.sym_size(0), im1.sym_size(1), im1.sym_size(2), im1.options());
}

}  // namespace
}  // namespace opgate_ops

TORCH_LIBRARY_IMPL(opgate_ops, Meta, m) { m.impl("paste", &opgate_ops::paste_meta); }
