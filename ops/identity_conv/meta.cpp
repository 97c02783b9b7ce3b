// The meta kernel of identity_conv, for fake tensors, torch.compile and torch.export.
//
// It reads no sizes: at::empty_like keeps symbolic sizes and strides. A call of x.sizes() here would not
// fail, but it would silently fix the traced program to the sizes of the example input.
#include <ATen/ops/empty_like.h>
#include <torch/library.h>

#include "../common/checks.h"

namespace opgate_ops {
namespace {

at::Tensor identity_conv_meta(const at::Tensor& x) {
  check_floating({"identity_conv", "x", x});
  return at::empty_like(x);
}

}  // namespace
}  // namespace opgate_ops

TORCH_LIBRARY_IMPL(opgate_ops, Meta, m) { m.impl("identity_conv", &opgate_ops::identity_conv_meta); }
