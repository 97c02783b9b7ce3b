// bev_pool_prepare on CUDA: a kernel computes the voxel of every point and divides as the CPU does;
// PyTorch's own operators select, sort and count. It waits for the device where they must know how many
// points or voxels there are.
#include <ATen/Dispatch.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/nonzero.h>
#include <ATen/ops/sort.h>
#include <ATen/ops/unique_consecutive.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <torch/library.h>

#include <cstdint>

#include "../common/launch.cuh"
#include "bev_pool_prepare.h"

namespace opgate_ops {
namespace {

template <typename scalar_t>
__global__ void __launch_bounds__(kThreads)
    find_voxels(const scalar_t* __restrict__ coor, const __grid_constant__ Grid grid,
                int32_t* __restrict__ voxels) {
  for (int64_t i = first_index(); i < grid.points; i += index_step())
    voxels[i] = grid.voxel_of(coor + 3 * i, i / grid.points_per_batch);
}

__global__ void __launch_bounds__(kThreads)
    find_pixels(const int64_t* __restrict__ points, int64_t count, const __grid_constant__ Grid grid,
                int32_t* __restrict__ ranks_depth, int32_t* __restrict__ ranks_feat) {
  for (int64_t i = first_index(); i < count; i += index_step()) {
    ranks_depth[i] = static_cast<int32_t>(points[i]);
    ranks_feat[i] = static_cast<int32_t>(grid.pixel_of(points[i]));
  }
}

Prepared bev_pool_prepare_cuda(const at::Tensor& coor, at::ArrayRef<double> lower,
                               at::ArrayRef<double> voxel_size, at::IntArrayRef sizes) {
  const Grid grid = make_grid(coor, lower, voxel_size, sizes);
  const c10::cuda::CUDAGuard device_guard(coor.device());
  const auto options = coor.options().dtype(at::kInt);
  const auto none = [&] { return at::empty({0}, options); };
  if (grid.points == 0) return {none(), none(), none(), none(), none()};

  const cudaStream_t stream = c10::cuda::getCurrentCUDAStream();
  const at::Tensor dense = coor.contiguous();
  const at::Tensor voxels = at::empty({grid.points}, options);
  AT_DISPATCH_FLOATING_TYPES(coor.scalar_type(), "bev_pool_prepare", [&] {
    find_voxels<<<blocks_for(grid.points), kThreads, 0, stream>>>(dense.const_data_ptr<scalar_t>(), grid,
                                                                  voxels.mutable_data_ptr<int32_t>());
    C10_CUDA_KERNEL_LAUNCH_CHECK();
  });
  const at::Tensor kept = at::nonzero(voxels.ge(0)).squeeze(1);  // waits for the device
  const int64_t count = kept.size(0);
  if (count == 0) return {none(), none(), none(), none(), none()};
  const auto [ranks_bev, order] = at::sort(voxels.index_select(0, kept), /*stable=*/true, /*dim=*/0,
                                           /*descending=*/false);
  const at::Tensor points = kept.index_select(0, order);
  const at::Tensor ranks_depth = at::empty({count}, options);
  const at::Tensor ranks_feat = at::empty({count}, options);
  find_pixels<<<blocks_for(count), kThreads, 0, stream>>>(points.const_data_ptr<int64_t>(), count, grid,
                                                          ranks_depth.mutable_data_ptr<int32_t>(),
                                                          ranks_feat.mutable_data_ptr<int32_t>());
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  const at::Tensor lengths =  // waits for the device
      std::get<2>(at::unique_consecutive(ranks_bev, /*return_inverse=*/false, /*return_counts=*/true));
  const at::Tensor starts = lengths.cumsum(0).sub(lengths);
  return {ranks_depth, ranks_feat, ranks_bev, starts.to(at::kInt), lengths.to(at::kInt)};
}

}  // namespace
}  // namespace opgate_ops

TORCH_LIBRARY_IMPL(opgate_ops, CUDA, m) { m.impl("bev_pool_prepare", &opgate_ops::bev_pool_prepare_cuda); }
