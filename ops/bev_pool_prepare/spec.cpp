// What bev_pool_prepare promises.
#include <ATen/ops/arange.h>
#include <ATen/ops/sort.h>
#include <ATen/ops/unique_consecutive.h>
#include <opgate/spec.h>

#include <limits>

using namespace opgate;

namespace {

using Five = std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor, at::Tensor>;

const auto prepared = [](const at::Tensor& coor, at::ArrayRef<double> lower, at::ArrayRef<double> voxel_size,
                         at::IntArrayRef grid) -> Five {
  TORCH_CHECK(coor.dim() == 6 && coor.size(5) == 3 && lower.size() == 3 && voxel_size.size() == 3, "3 axes");
  TORCH_CHECK(grid.size() == 3, "3 sizes");
  double voxels = static_cast<double>(coor.size(0));
  for (size_t axis = 0; axis < 3; ++axis) {
    TORCH_CHECK(voxel_size[axis] > 0 && std::isfinite(voxel_size[axis]) && std::isfinite(lower[axis]),
                "a grid");
    TORCH_CHECK(grid[axis] >= 0, "sizes");
    voxels *= static_cast<double>(grid[axis]);
  }
  TORCH_CHECK(voxels <= std::numeric_limits<int32_t>::max(), "int32 counts the voxels");
  const int64_t pixels = coor.size(3) * coor.size(4);
  const int64_t bins = coor.size(2);
  const at::Tensor points = coor.reshape({-1, 3});
  const int64_t per_batch = coor.size(1) * bins * pixels;
  at::Tensor index = at::arange(points.size(0), points.options().dtype(at::kLong));
  at::Tensor rank = per_batch == 0 ? index : index.div(per_batch, "floor");
  at::Tensor inside = index.ge(0);
  for (const int64_t axis : {2, 1, 0}) {
    const at::Tensor cell = points.select(1, axis).sub(lower[axis]).div(voxel_size[axis]).floor();
    inside = inside.logical_and(cell.ge(0)).logical_and(cell.lt(static_cast<double>(grid[axis])));
    rank = rank.mul(grid[axis]).add(cell.nan_to_num(0, 0, 0).to(at::kLong));
  }
  index = index.masked_select(inside);
  const auto [sorted, order] =
      at::sort(rank.masked_select(inside), /*stable=*/true, /*dim=*/0, /*descending=*/false);
  index = index.index_select(0, order);
  const at::Tensor lengths =
      std::get<2>(at::unique_consecutive(sorted, /*return_inverse=*/false, /*return_counts=*/true));
  const at::Tensor feat =
      pixels * bins == 0 ? index : index.div(bins * pixels, "floor").mul(pixels).add(index.remainder(pixels));
  return {index.to(at::kInt), feat.to(at::kInt), sorted.to(at::kInt),
          lengths.cumsum(0).sub(lengths).to(at::kInt), lengths.to(at::kInt)};
};

using Numbers = std::vector<double>;
using Sizes = std::vector<int64_t>;

}  // namespace

OPGATE_SPEC("opgate_ops::bev_pool_prepare", spec) {
  spec.dtypes({c10::kFloat, c10::kDouble});
  spec.reference(prepared);
  spec.accuracy(exact());
  spec.promises(
      {clear_errors, deterministic, thread_invariant});  // not capturable: its sizes depend on values
  // About half of the points lie in the grid, and many of them share a voxel.
  spec.sample(
      {uniform({2, 2, 3, 4, 5, 3}), Numbers{-0.8, -0.8, -0.9}, Numbers{0.4, 0.4, 1.8}, Sizes{4, 4, 1}});
  spec.sample(
      {uniform({1, 2, 7, 8, 9, 3}, -3, 3), Numbers{-2, -1, -0.5}, Numbers{0.1, 0.3, 0.7}, Sizes{40, 6, 2}});
  spec.sample({special({1, 2, 3, 4, 5, 3}), Numbers{-1, -1, -1}, Numbers{0.5, 0.5, 1}, Sizes{4, 4, 2}})
      .named("special");
  // Points on the borders and just outside: truncation instead of floor would put -0.25 and -0.0625 into
  // the first voxel.
  spec.sample({values({1, 1, 1, 1, 8, 3}, {0,   0,   0,   -0.25, 0, 0, 0,    -0.0625, 0, 1, 1, 1,
                                           0.5, 0.5, 0.5, 0,     0, 1, 0.75, 0.25,    0, 0, 0, -1e-9}),
               Numbers{0, 0, 0}, Numbers{0.5, 0.5, 0.5}, Sizes{2, 2, 2}})
      .named("borders");
  spec.sample({uniform({1, 1, 2, 2, 2, 3}), Numbers{5, 5, 5}, Numbers{1, 1, 1}, Sizes{4, 4, 1}})
      .named("all outside");
  spec.sample({values({1, 1, 1, 1, 1, 3}, {0.7, 0.2, 0.4}), Numbers{0, 0, 0}, Numbers{0.5, 0.5, 0.5},
               Sizes{2, 2, 2}})
      .named("one point");
  spec.sample({uniform({1, 0, 2, 2, 2, 3}), Numbers{0, 0, 0}, Numbers{1, 1, 1}, Sizes{2, 2, 2}})
      .named("no points");
  spec.sample({uniform({1, 1, 2, 2, 2, 3}), Numbers{-1, -1, -1}, Numbers{1, 1, 1}, Sizes{2, 0, 2}})
      .named("no voxels");

  const TensorArgument coor = uniform({1, 1, 2, 2, 2, 3});
  const Numbers one{1, 1, 1};
  spec.rejects("points without z", {uniform({1, 1, 2, 2, 2, 2}), one, one, Sizes{4, 4, 1}})
      .because("coor must be");
  spec.rejects("a voxel without size", {coor, one, Numbers{1, 0, 1}, Sizes{4, 4, 1}})
      .because("voxel_size must be positive");
  spec.rejects("a negative grid", {coor, one, one, Sizes{4, -4, 1}}).because("grid must not be negative");
  // In one batch, they would be half as many.
  spec.rejects("more voxels than int32 counts",
               {uniform({2, 1, 2, 2, 2, 3}), one, one, Sizes{65536, 16384, 1}})
      .because("grid must have at most");
  spec.rejects("points in half precision",
               {uniform({1, 1, 2, 2, 2, 3}).of(at::kHalf), one, one, Sizes{4, 4, 1}})
      .because("coor must be Float or Double");
}
