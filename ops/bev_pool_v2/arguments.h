// The arguments that all kernels of bev_pool_v2 and its backward share, and the checks that they must pass
// before any memory is touched. The messages begin with the operator's name and say which argument is
// wrong, what it must be, and what was given.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/SymIntArrayRef.h>

#include <cstdint>

namespace opgate_ops {

/// The tensor arguments, with the names that the schema gives them.
struct PoolInputs {
  at::Tensor depth;
  at::Tensor feat;
  at::Tensor ranks_depth;
  at::Tensor ranks_feat;
  at::Tensor ranks_bev;
  at::Tensor interval_starts;
  at::Tensor interval_lengths;

  /// The same inputs, each contiguous; those that are not are copied.
  PoolInputs contiguous() const;
};

/// Checks devices, dtypes and sizes; throws c10::Error. Meta kernels use it too, so symbolic sizes stay
/// symbolic.
void check_pool(const char* op, const PoolInputs& inputs, c10::SymIntArrayRef bev_shape);

/// The same checks for the backward, where the shape of the grid is that of grad.
void check_pool_backward(const char* op, const at::Tensor& grad, const PoolInputs& inputs);

/// The indices, in contiguous memory of the kernel's device, and the bounds of each. A plain struct, so
/// that CUDA kernels can take it by value.
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

/// The indices of inputs that are contiguous and have been checked. Throws c10::Error if bev_shape has more
/// voxels than 63 bits can count.
PoolIndices indices_of(const char* op, const PoolInputs& inputs, at::IntArrayRef bev_shape);

/// Checks the values, on the CPU; throws c10::Error. Every rank of a point in an interval must be within
/// its tensor. Every interval must lie within the points, must not be empty, and must come after the one
/// before it both in points and in voxels, so that each voxel has one interval and two threads never write
/// to the same voxel. All points of an interval must have the same ranks_bev.
///
/// On CUDA, reading values would wait for the device. It is done only if the environment variable
/// OPGATE_OPS_CHECK_VALUES is 1 and no CUDA graph is being captured. Without the check, a CUDA kernel still
/// touches no memory outside its tensors: it leaves out points and intervals that are out of range, and
/// uses the ranks_bev at the start of an interval. If two intervals name one voxel, the voxel gets the
/// value of either.
void check_values(const char* op, const PoolIndices& indices);

}  // namespace opgate_ops
