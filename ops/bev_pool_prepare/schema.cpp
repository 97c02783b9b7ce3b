// The schema of bev_pool_prepare, which finds the points of the cameras' frustums that fall into each voxel
// of a grid, as bev_pool_v2 takes them.
//
//   coor [B, N, D, H, W, 3]   x, y, z in metres of the point of each depth bin of a pixel; Float or Double
//   lower, voxel_size         corner of the grid and size of a voxel in metres: x, y, z
//   grid                      number of voxels: x, y, z
//
// A point is in voxel floor((coor - lower) / voxel_size), computed in double. Points that are outside the
// grid, NaN or infinite are left out. The others are sorted by voxel and keep their order within a voxel:
//
//   ranks_depth, ranks_feat, ranks_bev  int32 [P]   as bev_pool_v2 takes them, for bev_shape (B, Z, Y, X)
//   interval_starts, interval_lengths   int32 [I]   one interval per voxel that has points
//
// The sizes P and I depend on the values, so the operator waits twice for the device on CUDA and cannot be
// captured in a CUDA graph. Fake kernels with data-dependent sizes can be written only in Python, so the
// fake kernel is in opgate_ops/bev_pool.py.
#include <torch/library.h>

TORCH_LIBRARY_FRAGMENT(opgate_ops, m) {
  m.set_python_module("opgate_ops.bev_pool");
  m.def(
      "bev_pool_prepare(Tensor coor, float[3] lower, float[3] voxel_size, int[3] grid) -> (Tensor "
      "ranks_depth, "
      "Tensor ranks_feat, Tensor ranks_bev, Tensor interval_starts, Tensor interval_lengths)",
      {at::Tag::pt2_compliant_tag, at::Tag::dynamic_output_shape});
}
