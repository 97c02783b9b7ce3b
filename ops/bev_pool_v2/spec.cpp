// What bev_pool_v2 and its backward promise.
#include <ATen/ops/arange.h>
#include <ATen/ops/repeat_interleave.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>
#include <opgate/spec.h>

#include <cmath>
#include <numeric>
#include <random>

using namespace opgate;

namespace {

// The points in intervals, in the form that gather and scatter operators take.
struct Points {
  at::Tensor depth;  // indices into the flattened depth; the others accordingly
  at::Tensor feat;
  at::Tensor voxel;
};

Points points_in_intervals(const at::Tensor& ranks_depth, const at::Tensor& ranks_feat,
                           const at::Tensor& ranks_bev, const at::Tensor& starts, const at::Tensor& lengths) {
  TORCH_CHECK(lengths.gt(0).all().item<bool>(), "an interval has at least one point");
  TORCH_CHECK(ranks_depth.dim() == 1 && starts.dim() == 1 && starts.sizes() == lengths.sizes(), "1 dim each");
  TORCH_CHECK(ranks_feat.sizes() == ranks_depth.sizes() && ranks_bev.sizes() == ranks_depth.sizes(),
              "as many ranks of each kind");
  for (const at::Tensor& tensor : {ranks_depth, ranks_feat, ranks_bev, starts, lengths})
    TORCH_CHECK(tensor.scalar_type() == at::kInt, "indices are Int");
  const at::Tensor begins = lengths.cumsum(0).sub(lengths);  // where each interval would start without gaps
  const at::Tensor point = at::arange(lengths.sum().item<int64_t>(), starts.options())
                               .add(at::repeat_interleave(starts.sub(begins), lengths));
  const at::Tensor voxels = ranks_bev.index_select(0, starts);
  TORCH_CHECK(voxels.diff().gt(0).all().item<bool>(), "each voxel has one interval");
  const at::Tensor voxel = at::repeat_interleave(voxels, lengths);
  TORCH_CHECK(ranks_bev.index_select(0, point).eq(voxel).all().item<bool>(), "an interval has one voxel");
  return {ranks_depth.index_select(0, point), ranks_feat.index_select(0, point), voxel};
}

void demand_cameras(const at::Tensor& depth, const at::Tensor& feat, int64_t batch) {
  TORCH_CHECK(depth.dim() == 5 && feat.dim() == 5, "5 dims each");
  TORCH_CHECK(depth.select(2, 0).sizes() == feat.select(4, 0).sizes() && depth.size(0) == batch,
              "the same cameras");
}

const auto pooled = [](const at::Tensor& depth, const at::Tensor& feat, const at::Tensor& ranks_depth,
                       const at::Tensor& ranks_feat, const at::Tensor& ranks_bev, const at::Tensor& starts,
                       const at::Tensor& lengths, at::IntArrayRef bev_shape) -> at::Tensor {
  TORCH_CHECK(bev_shape.size() == 4, "4 sizes");
  demand_cameras(depth, feat, bev_shape[0]);
  const Points points = points_in_intervals(ranks_depth, ranks_feat, ranks_bev, starts, lengths);
  const int64_t channels = feat.size(4);
  const at::Tensor terms = feat.flatten(0, 3)
                               .index_select(0, points.feat)
                               .mul(depth.flatten().index_select(0, points.depth).unsqueeze(1));
  at::Tensor out =
      at::zeros({bev_shape[0], bev_shape[1], bev_shape[2], bev_shape[3], channels}, depth.options());
  out.view({-1, channels}).index_add_(0, points.voxel, terms);
  return out;
};

const auto gradients = [](const at::Tensor& grad, const at::Tensor& depth, const at::Tensor& feat,
                          const at::Tensor& ranks_depth, const at::Tensor& ranks_feat,
                          const at::Tensor& ranks_bev, const at::Tensor& starts,
                          const at::Tensor& lengths) -> std::tuple<at::Tensor, at::Tensor> {
  TORCH_CHECK(grad.dim() == 5 && grad.size(4) == feat.size(4), "grad is that of the result");
  demand_cameras(depth, feat, grad.size(0));
  const Points points = points_in_intervals(ranks_depth, ranks_feat, ranks_bev, starts, lengths);
  const at::Tensor of_voxel = grad.flatten(0, 3).index_select(0, points.voxel);
  const at::Tensor products = of_voxel.mul(feat.flatten(0, 3).index_select(0, points.feat)).sum(1);
  const at::Tensor terms = of_voxel.mul(depth.flatten().index_select(0, points.depth).unsqueeze(1));
  return {at::zeros_like(depth).flatten().index_add(0, points.depth, products).view(depth.sizes()),
          at::zeros_like(feat).flatten(0, 3).index_add(0, points.feat, terms).view(feat.sizes())};
};

TensorArgument ints(std::vector<double> numbers) {
  const auto count = static_cast<int64_t>(numbers.size());
  return values({count}, std::move(numbers)).of(c10::kInt);
}

using Arguments = std::vector<Argument>;

// Two batches of two cameras. Intervals have one or more points, point 5 is in no interval, and ranks
// repeat.
Arguments two_cameras(TensorArgument depth, TensorArgument feat) {
  return {depth,
          feat,
          ints({0, 5, 11, 17, 3, 30, 31, 47, 5}),
          ints({0, 1, 3, 5, 2, 9, 10, 15, 1}),
          ints({2, 2, 2, 5, 5, 13, 13, 13, 23}),
          ints({0, 3, 6, 8}),
          ints({3, 2, 2, 1}),
          std::vector<int64_t>{2, 1, 3, 4}};
}

Arguments with(Arguments arguments, size_t position, Argument instead) {
  arguments.at(position) = std::move(instead);
  return arguments;
}

Arguments good() { return two_cameras(uniform({2, 2, 3, 2, 2}), uniform({2, 2, 2, 2, 5})); }

// The size that BEVDet uses: 6 cameras, 59 depths, 16x44 features of 80 channels, a grid of 128x128. Three
// of four points, chosen at random, fall into the grid. Each process that loads the specs makes them, so that
// the points are not sorted by comparing them.
Arguments bevdet() {
  constexpr int cells = 6 * 59 * 16 * 44, depths = 59, pixels = 16 * 44, voxels = 128 * 128;
  std::mt19937 random;
  std::vector<uint32_t> voxel_of(cells);
  std::vector<int> begin(voxels + 1);  // of the points of each voxel
  for (uint32_t& voxel : voxel_of) {
    voxel = random() % (voxels * 4 / 3);
    if (voxel < voxels) ++begin[voxel + 1];
  }
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  const auto points = static_cast<size_t>(begin.back());
  std::vector<double> ranks_depth(points), ranks_feat(points), ranks_bev(points), starts, lengths;
  for (int voxel = 0; voxel < voxels; ++voxel) {
    if (begin[voxel] == begin[voxel + 1]) continue;
    starts.push_back(begin[voxel]);
    lengths.push_back(begin[voxel + 1] - begin[voxel]);
  }
  for (int cell = 0; cell < cells; ++cell) {
    const uint32_t voxel = voxel_of[cell];
    if (voxel >= voxels) continue;
    const int point = begin[voxel]++;
    ranks_depth[point] = cell;
    ranks_feat[point] = cell / (depths * pixels) * pixels + cell % pixels;
    ranks_bev[point] = voxel;
  }
  return {uniform({1, 6, 59, 16, 44}), uniform({1, 6, 16, 44, 80}),         ints(std::move(ranks_depth)),
          ints(std::move(ranks_feat)), ints(std::move(ranks_bev)),          ints(std::move(starts)),
          ints(std::move(lengths)),    std::vector<int64_t>{1, 1, 128, 128}};
}

// The arguments of the backward: grad comes first, and there is no bev_shape.
Arguments backward(TensorArgument grad, const Arguments& arguments) {
  Arguments all{std::move(grad)};
  all.insert(all.end(), arguments.begin(), arguments.end() - 1);
  return all;
}

}  // namespace

// A voxel of n points is a sum of n products. It has n roundings of products and n of additions, in the
// accumulator's precision, and one to the output's dtype, each at most half an ulp. No sample has a voxel
// of more than 9 points.
OPGATE_SPEC("opgate_ops::bev_pool_v2", spec) {
  spec.dtypes(floating());
  spec.reference(pooled);
  spec.accuracy(ulps(10).scaled_by_inputs());
  spec.promises({clear_errors, fake_refuses, deterministic, layout_invariant, thread_invariant, capturable,
                 differentiable, twice_differentiable});
  spec.sample(good());
  // This sample is the published test vector.
  spec.sample({values({1, 1, 2, 2, 2}, {.3, .4, .2, .1, .7, .6, .8, .9}), uniform({1, 1, 2, 2, 2}, 1, 1),
               ints({0, 4, 1, 6}), ints({0, 0, 1, 2}), ints({0, 0, 1, 1}), ints({0, 2}), ints({2, 2}),
               std::vector<int64_t>{1, 1, 2, 2}})
      .named("published");
  // This sample has more channels than fit in a vector register, and a voxel whose points are not a
  // multiple of four.
  spec.sample(two_cameras(uniform({2, 2, 3, 2, 2}), uniform({2, 2, 2, 2, 67})));
  spec.sample(two_cameras(uniform({2, 2, 3, 2, 2}), uniform({2, 2, 2, 2, 80})));
  spec.sample(two_cameras(subnormals({2, 2, 3, 2, 2}), signed_zeros({2, 2, 2, 2, 5}))).named("tiny");
  spec.sample(two_cameras(special({2, 2, 3, 2, 2}), special({2, 2, 2, 2, 5}))).named("special");
  // More points than are loaded at a time. The first ones are infinite, so that what is left of them counts.
  spec.sample({values({1, 1, 10, 1, 1},
                      {INFINITY, INFINITY, INFINITY, INFINITY, INFINITY, INFINITY, INFINITY, INFINITY, 1, 2}),
               values({1, 1, 1, 1, 3}, {INFINITY, 1, 2}), ints({0, 1, 2, 3, 4, 5, 6, 7, 8, 9}),
               ints({0, 0, 0, 0, 0, 0, 0, 0, 0, 0}), ints({0, 0, 0, 0, 0, 0, 0, 0, 0, 2}), ints({0, 9}),
               ints({9, 1}), std::vector<int64_t>{1, 1, 1, 4}})
      .named("nine points in a voxel");
  // The same with numbers, and two rows of feat in turn. Its first row has no points.
  spec.sample({uniform({1, 1, 10, 1, 3}), uniform({1, 1, 1, 3, 5}),
               ints({1, 4, 7, 10, 13, 16, 19, 22, 25, 29}), ints({1, 2, 1, 2, 1, 2, 1, 2, 1, 2}),
               ints({0, 0, 0, 0, 0, 0, 0, 0, 0, 2}), ints({0, 9}), ints({9, 1}),
               std::vector<int64_t>{1, 1, 1, 4}})
      .named("nine points with numbers");
  spec.sample({uniform({2, 2, 3, 2, 2}), uniform({2, 2, 2, 2, 5}), ints({}), ints({}), ints({}), ints({}),
               ints({}), std::vector<int64_t>{2, 1, 3, 4}})
      .named("no points");

  // The baseline is what one would write without the operator; reference() would also spend time on
  // checking values.
  spec.bench(bevdet())
      .named("BEVDet")
      .against([](const at::Tensor& depth, const at::Tensor& feat, const at::Tensor& ranks_depth,
                  const at::Tensor& ranks_feat, const at::Tensor& ranks_bev, const at::Tensor&,
                  const at::Tensor&, at::IntArrayRef shape) {
        const int64_t channels = feat.size(4);
        const at::Tensor terms = feat.view({-1, channels})
                                     .index_select(0, ranks_feat)
                                     .mul(depth.view(-1).index_select(0, ranks_depth).unsqueeze(1));
        return at::zeros({shape[0] * shape[1] * shape[2] * shape[3], channels}, feat.options())
            .index_add(0, ranks_bev, terms)
            .view({shape[0], shape[1], shape[2], shape[3], channels});
      })
      .forward(c10::kCPU, 3)
      .backward(c10::kCPU, 1);

  spec.rejects("feat of other cameras", with(good(), 1, uniform({2, 1, 2, 2, 5})))
      .because("dimension 1 of feat must have size 2, the N of depth");
  spec.rejects("a rank beyond depth", with(good(), 2, ints({0, 5, 11, 17, 3, 30, 31, 48, 5})))
      .because("ranks_depth[7] is out of range: 48");
  spec.rejects("a negative rank", with(good(), 3, ints({0, 1, 3, 5, -1, 9, 10, 15, 1})))
      .because("ranks_feat must not be negative");
  spec.rejects("a voxel beyond the grid", with(good(), 4, ints({2, 2, 2, 5, 5, 13, 13, 13, 24})))
      .because("ranks_bev[8] is out of range: 24");
  spec.rejects("a voxel of two intervals", with(good(), 4, ints({2, 2, 2, 2, 5, 13, 13, 13, 23})))
      .because("ranks_bev must ascend");
  spec.rejects("an interval of two voxels", with(good(), 4, ints({2, 2, 3, 5, 5, 13, 13, 13, 23})))
      .because("ranks_bev must be the same");
  spec.rejects("intervals that overlap", with(good(), 5, ints({0, 2, 6, 8})))
      .because("interval_starts must ascend");
  spec.rejects("an interval beyond the points", with(good(), 6, ints({3, 2, 2, 2}))).because("out of range");
  spec.rejects("an interval without points", with(good(), 6, ints({3, 0, 2, 1})))
      .because("interval_lengths must be positive");
  spec.rejects("a negative size", with(good(), 7, std::vector<int64_t>{2, 1, -3, 4})).because("bev_shape");
  spec.rejects("a grid of another batch", with(good(), 7, std::vector<int64_t>{1, 1, 3, 8}))
      .because("bev_shape");
}

// The gradient of a depth cell sums C products for each point, and the gradient of a row of feat sums one.
// Here C is at most 67, and a cell has at most two points; each rounding counts as above.
OPGATE_SPEC("opgate_ops::bev_pool_v2_backward", spec) {
  spec.dtypes(floating());
  spec.reference(gradients);
  spec.accuracy(ulps(32).scaled_by_inputs());
  spec.promises({clear_errors, fake_refuses, deterministic, layout_invariant, thread_invariant, capturable,
                 differentiable, twice_differentiable});
  spec.sample(backward(uniform({2, 1, 3, 4, 5}), good()));
  spec.sample(
      backward(uniform({2, 1, 3, 4, 67}), two_cameras(uniform({2, 2, 3, 2, 2}), uniform({2, 2, 2, 2, 67}))));
  spec.sample(backward(uniform({2, 1, 3, 4, 5}),
                       two_cameras(subnormals({2, 2, 3, 2, 2}), signed_zeros({2, 2, 2, 2, 5}))))
      .named("tiny");
  spec.sample(
          backward(special({2, 1, 3, 4, 5}), two_cameras(special({2, 2, 3, 2, 2}), special({2, 2, 2, 2, 5}))))
      .named("special");
  spec.sample({uniform({2, 1, 3, 4, 5}), uniform({2, 2, 3, 2, 2}), uniform({2, 2, 2, 2, 5}), ints({}),
               ints({}), ints({}), ints({}), ints({})})
      .named("no points");

  spec.rejects("grad of other channels", backward(uniform({2, 1, 3, 4, 6}), good()))
      .because("dimension 4 of grad must have size 5, the C of feat");
  spec.rejects("grad of another batch", backward(uniform({1, 2, 3, 4, 5}), good()))
      .because("dimension 0 of grad must have size 2, the B of depth");
  spec.rejects("a voxel beyond grad", backward(uniform({2, 1, 3, 3, 5}), good()))
      .because("ranks_bev[8] is out of range");
}
