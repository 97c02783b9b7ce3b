// The schemas of bev_pool_v2 and its backward, which sum camera features, weighted by a distribution over
// depth, into the voxels of a bird's-eye-view grid.
//
//   depth [B, N, D, H, W]   weight of each depth bin of each pixel of each camera
//   feat  [B, N, H, W, C]   feature of each pixel, in the same floating dtype
//   ranks_*     int32 [P]   a point is a depth bin, a pixel and a voxel: indices into depth, the rows of
//                           feat and the voxels, each flattened; points of one voxel follow one another
//   interval_*  int32 [I]   one interval for each voxel that has points, ascending in points and in voxels
//   bev_shape               (B, Z, Y, X)
//
//   out[v, c] = sum over the points p of the interval of v: depth[ranks_depth[p]] * feat[ranks_feat[p], c]
//
// Voxels without an interval are 0, and points outside every interval do not count. The result is [B, Z, Y,
// X, C].
#include <torch/library.h>

TORCH_LIBRARY_FRAGMENT(opgate_ops, m) {
  m.def(
      "bev_pool_v2(Tensor depth, Tensor feat, Tensor ranks_depth, Tensor ranks_feat, Tensor ranks_bev, "
      "Tensor interval_starts, Tensor interval_lengths, SymInt[4] bev_shape) -> Tensor",
      {at::Tag::pt2_compliant_tag});
  // The backward returns the gradients of depth and feat for the gradient [B, Z, Y, X, C] of the result.
  m.def(
      "bev_pool_v2_backward(Tensor grad, Tensor depth, Tensor feat, Tensor ranks_depth, Tensor ranks_feat, "
      "Tensor ranks_bev, Tensor interval_starts, Tensor interval_lengths) -> (Tensor, Tensor)",
      {at::Tag::pt2_compliant_tag});
}
