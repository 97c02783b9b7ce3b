// bev_pool_prepare on the CPU: it computes the voxel of every point in parallel, and then sorts the points
// that have one with a stable radix sort.
#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <torch/library.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "../common/multiversion.h"
#include "bev_pool_prepare.h"

namespace opgate_ops {
namespace {

constexpr int64_t kPointsPerTask = 4096;  // points, each with three divisions

struct Point {
  int32_t voxel;
  int32_t index;
};

// Writes the voxels of `count` points of one batch.
template <typename scalar_t>
OPGATE_OPS_MULTIVERSION void find_voxels(const Grid& grid, const scalar_t* coor, int64_t batch, int64_t count,
                                         int32_t* __restrict voxels) {
  const Grid local = grid;  // a copy, so that the compiler knows that the loop does not write to it
  for (int64_t i = 0; i < count; ++i) voxels[i] = local.voxel_of(coor + 3 * i, batch);
}

template <typename scalar_t>
std::vector<Point> points_in(const Grid& grid, const scalar_t* coor) {
  std::vector<int32_t> voxels(grid.points);
  at::parallel_for(0, grid.points, kPointsPerTask, [&](int64_t first, int64_t last) {
    while (first < last) {
      const int64_t batch = first / grid.points_per_batch;
      const int64_t end = std::min((batch + 1) * grid.points_per_batch, last);
      find_voxels(grid, coor + 3 * first, batch, end - first, voxels.data() + first);
      first = end;
    }
  });
  std::vector<Point> points;
  points.reserve(grid.points);
  for (int64_t i = 0; i < grid.points; ++i) {
    if (voxels[i] >= 0) points.push_back({voxels[i], static_cast<int32_t>(i)});
  }
  return points;
}

// Sorts by voxel, eleven bits at a time from the lowest, so that time and memory do not depend on the
// grid's size.
void sort_by_voxel(std::vector<Point>& points) {
  constexpr int kBits = 11;
  constexpr int64_t kDigits = int64_t{1} << kBits;
  int32_t largest = 0;
  for (const Point& point : points) largest = std::max(largest, point.voxel);
  std::vector<Point> other(points.size());
  for (int shift = 0; shift < 32 && (largest >> shift) > 0; shift += kBits) {
    std::array<int64_t, kDigits> next{};
    const auto digit = [shift](const Point& point) { return (point.voxel >> shift) & (kDigits - 1); };
    for (const Point& point : points) ++next[digit(point)];
    int64_t before = 0;
    for (int64_t& count : next) before += std::exchange(count, before);
    for (const Point& point : points) other[next[digit(point)]++] = point;
    points.swap(other);
  }
}

Prepared bev_pool_prepare_cpu(const at::Tensor& coor, at::ArrayRef<double> lower,
                              at::ArrayRef<double> voxel_size, at::IntArrayRef sizes) {
  const Grid grid = make_grid(coor, lower, voxel_size, sizes);
  const at::Tensor dense = coor.contiguous();
  std::vector<Point> points;
  AT_DISPATCH_FLOATING_TYPES(coor.scalar_type(), "bev_pool_prepare",
                             [&] { points = points_in(grid, dense.const_data_ptr<scalar_t>()); });
  sort_by_voxel(points);

  const auto first_of_voxel = [&](size_t i) { return i == 0 || points[i - 1].voxel != points[i].voxel; };
  int64_t intervals = 0;
  for (size_t i = 0; i < points.size(); ++i) intervals += first_of_voxel(i) ? 1 : 0;
  const auto options = coor.options().dtype(at::kInt);
  const auto count = static_cast<int64_t>(points.size());
  Prepared prepared{at::empty({count}, options), at::empty({count}, options), at::empty({count}, options),
                    at::empty({intervals}, options), at::empty({intervals}, options)};
  auto* const ranks_depth = std::get<0>(prepared).mutable_data_ptr<int32_t>();
  auto* const ranks_feat = std::get<1>(prepared).mutable_data_ptr<int32_t>();
  auto* const ranks_bev = std::get<2>(prepared).mutable_data_ptr<int32_t>();
  auto* const starts = std::get<3>(prepared).mutable_data_ptr<int32_t>();
  auto* const lengths = std::get<4>(prepared).mutable_data_ptr<int32_t>();
  int64_t interval = -1;
  for (size_t i = 0; i < points.size(); ++i) {
    ranks_depth[i] = points[i].index;
    ranks_feat[i] = static_cast<int32_t>(grid.pixel_of(points[i].index));
    ranks_bev[i] = points[i].voxel;
    if (first_of_voxel(i)) {
      starts[++interval] = static_cast<int32_t>(i);
      lengths[interval] = 0;
    }
    ++lengths[interval];
  }
  return prepared;
}

}  // namespace
}  // namespace opgate_ops

TORCH_LIBRARY_IMPL(opgate_ops, CPU, m) { m.impl("bev_pool_prepare", &opgate_ops::bev_pool_prepare_cpu); }
