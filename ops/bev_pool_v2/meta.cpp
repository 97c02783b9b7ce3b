// The meta kernels of bev_pool_v2 and its backward. They use symbolic sizes only: x.sizes() would fix a
// traced program to the sizes of the example.
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <torch/library.h>

#include <array>
#include <tuple>

#include "arguments.h"

namespace opgate_ops {
namespace {

at::Tensor bev_pool_v2_meta(const at::Tensor& depth, const at::Tensor& feat, const at::Tensor& ranks_depth,
                            const at::Tensor& ranks_feat, const at::Tensor& ranks_bev,
                            const at::Tensor& interval_starts, const at::Tensor& interval_lengths,
                            c10::SymIntArrayRef bev_shape) {
  check_pool("bev_pool_v2",
             {depth, feat, ranks_depth, ranks_feat, ranks_bev, interval_starts, interval_lengths}, bev_shape);
  const std::array<c10::SymInt, 5> sizes{bev_shape[0], bev_shape[1], bev_shape[2], bev_shape[3],
                                         feat.sym_size(4)};
  return at::empty_symint(sizes, depth.options());
}

std::tuple<at::Tensor, at::Tensor> bev_pool_v2_backward_meta(
    const at::Tensor& grad, const at::Tensor& depth, const at::Tensor& feat, const at::Tensor& ranks_depth,
    const at::Tensor& ranks_feat, const at::Tensor& ranks_bev, const at::Tensor& interval_starts,
    const at::Tensor& interval_lengths) {
  check_pool_backward("bev_pool_v2_backward", grad,
                      {depth, feat, ranks_depth, ranks_feat, ranks_bev, interval_starts, interval_lengths});
  return {at::empty_symint(depth.sym_sizes(), depth.options()),
          at::empty_symint(feat.sym_sizes(), feat.options())};
}

}  // namespace
}  // namespace opgate_ops

TORCH_LIBRARY_IMPL(opgate_ops, Meta, m) {
  m.impl("bev_pool_v2", &opgate_ops::bev_pool_v2_meta);
  m.impl("bev_pool_v2_backward", &opgate_ops::bev_pool_v2_backward_meta);
}
