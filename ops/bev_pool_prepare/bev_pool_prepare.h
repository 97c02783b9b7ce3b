// What the CPU and CUDA kernels of bev_pool_prepare share: checks of the arguments, and the voxel of a
// point.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/macros/Macros.h>
#include <c10/util/Exception.h>
#include <c10/util/safe_numerics.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <tuple>

namespace opgate_ops {

// ranks_depth, ranks_feat, ranks_bev, interval_starts, interval_lengths
using Prepared = std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor, at::Tensor>;

// A plain struct, so that CUDA kernels can take it by value. Arrays are in the order x, y, z.
struct Grid {
  double lower[3];
  double voxel_size[3];
  double sizes[3];           // numbers of voxels along each axis
  int64_t points;            // of all cameras of all batches
  int64_t points_per_batch;  // N * D * H * W
  int64_t bins;              // D
  int64_t pixels;            // H * W

  // The rank of the voxel that holds a point of this batch, or -1 if none does; for NaN it is -1, because
  // comparisons with NaN are false. It is computed in double, which is exact for ranks, and without
  // branches, so that compilers vectorise a loop of it.
  template <typename scalar_t>
  C10_HOST_DEVICE int32_t voxel_of(const scalar_t* point, int64_t batch) const {
    double rank = static_cast<double>(batch);
    bool inside = true;
    for (int axis = 2; axis >= 0; --axis) {
      const double cell = ::floor((static_cast<double>(point[axis]) - lower[axis]) / voxel_size[axis]);
      inside = inside & (cell >= 0) & (cell < sizes[axis]);
      rank = rank * sizes[axis] + cell;
    }
    return static_cast<int32_t>(inside ? rank : -1.0);
  }

  // The rank of the pixel that the point lies behind. All D bins of a pixel share it.
  C10_HOST_DEVICE int64_t pixel_of(int64_t point) const {
    return point / (bins * pixels) * pixels + point % pixels;
  }
};

inline void check_three(const char* name, at::ArrayRef<double> values) {
  TORCH_CHECK(values.size() == 3, "bev_pool_prepare: ", name, " must be x, y, z, got ", values);
  for (const double value : values)
    TORCH_CHECK(std::isfinite(value), "bev_pool_prepare: ", name, " must be finite, got ", values);
}

// Checks all arguments. Ranks are int32, so more than 2^31 - 1 points or voxels are refused.
inline Grid make_grid(const at::Tensor& coor, at::ArrayRef<double> lower, at::ArrayRef<double> voxel_size,
                      at::IntArrayRef grid) {
  TORCH_CHECK(coor.defined(), "bev_pool_prepare: coor must be a tensor, got an undefined one");
  TORCH_CHECK(coor.scalar_type() == at::kFloat || coor.scalar_type() == at::kDouble,
              "bev_pool_prepare: coor must be Float or Double, got ", coor.scalar_type());
  TORCH_CHECK(coor.dim() == 6 && coor.size(5) == 3,
              "bev_pool_prepare: coor must be [B, N, D, H, W, 3], got shape ", coor.sizes());
  check_three("lower", lower);
  check_three("voxel_size", voxel_size);
  TORCH_CHECK(grid.size() == 3, "bev_pool_prepare: grid must be x, y, z, got ", grid);
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  int64_t voxels = coor.size(0);
  Grid result{};
  for (int axis = 0; axis < 3; ++axis) {
    TORCH_CHECK(voxel_size[axis] > 0, "bev_pool_prepare: voxel_size must be positive, got ", voxel_size);
    TORCH_CHECK(grid[axis] >= 0, "bev_pool_prepare: grid must not be negative, got ", grid);
    TORCH_CHECK(!c10::mul_overflows(voxels, grid[axis], &voxels) && voxels <= kMost,
                "bev_pool_prepare: grid must have at most ", kMost, " voxels, which int32 counts, in ",
                coor.size(0), " batches; got ", grid);
    result.lower[axis] = lower[axis];
    result.voxel_size[axis] = voxel_size[axis];
    result.sizes[axis] = static_cast<double>(grid[axis]);
  }
  result.points = coor.numel() / 3;
  TORCH_CHECK(result.points <= kMost, "bev_pool_prepare: coor must have at most ", kMost,
              " points, which int32 counts, got shape ", coor.sizes());
  result.points_per_batch = coor.size(1) * coor.size(2) * coor.size(3) * coor.size(4);
  result.bins = coor.size(2);
  result.pixels = coor.size(3) * coor.size(4);
  return result;
}

}  // namespace opgate_ops
