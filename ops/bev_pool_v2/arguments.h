// The arguments that all kernels of bev_pool_v2 and its backward share, and what is demanded of them before
// any memory is touched. The messages begin with the operator's name and say which argument, what it must be,
// and what was given.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/SymIntArrayRef.h>

#include <cstdint>

namespace opgate_ops {

/// As the schema names them.
struct PoolInputs {
  at::Tensor depth;
  at::Tensor feat;
  at::Tensor ranks_depth;
  at::Tensor ranks_feat;
  at::Tensor ranks_bev;
  at::Tensor interval_starts;
  at::Tensor interval_lengths;

  /// The same values without gaps; a copy where there are any.
  PoolInputs contiguous() const;
};

/// Devices, dtypes and sizes, for meta kernels too: symbolic sizes stay symbolic.
void check_pool(const char* op, const PoolInputs& inputs, c10::SymIntArrayRef bev_shape);

/// The same for the backward, where grad tells the shape of the grid.
void check_pool_backward(const char* op, const at::Tensor& grad, const PoolInputs& inputs);

/// What the indices are, in contiguous memory of the kernel's device, and how far each may reach. A plain
/// struct, for CUDA kernels to take by value.
struct PoolIndices {
  const int32_t* ranks_depth;
  const int32_t* ranks_feat;
  const int32_t* ranks_bev;
  const int32_t* starts;
  const int32_t* lengths;
  int64_t points;
  int64_t intervals;
  int64_t cells;   // elements of depth
  int64_t rows;    // pixels: rows of feat
  int64_t voxels;  // of the whole grid
};

/// Of inputs that are contiguous and checked. Raises where bev_shape has more voxels than 63 bits can count.
PoolIndices indices_of(const char* op, const PoolInputs& inputs, at::IntArrayRef bev_shape);

/// The values, on the CPU: every rank of a point in an interval within its tensor; every interval within the
/// points, not empty, after the one before it both in points and in voxels (so that each voxel has one, and
/// two threads never write the same), and of points that all carry the same ranks_bev.
///
/// On CUDA a look at values would wait for the device, so that it is only done where the environment variable
/// OPGATE_OPS_CHECK_VALUES is 1 and no CUDA graph is being captured. Without it a CUDA kernel touches no
/// memory outside of its tensors all the same: it leaves out points and intervals that are out of range, goes
/// by the ranks_bev at the start of an interval, and where two intervals name one voxel, the value is that of
/// either.
void check_values(const char* op, const PoolIndices& indices);

}  // namespace opgate_ops
