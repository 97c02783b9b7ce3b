// bev_pool_v2 called from C++, as in a program without Python: the published test vector, derivatives and
// errors.
#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <c10/util/Exception.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <tuple>
#include <vector>

namespace {

using Json = nlohmann::json;
using Five = std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor, at::Tensor>;

// The arguments of bev_pool_v2 in schema order.
struct Call {
  at::Tensor depth, feat, ranks_depth, ranks_feat, ranks_bev, starts, lengths;
  std::vector<int64_t> bev_shape;

  at::Tensor operator()() const {
    std::vector<c10::SymInt> shape(bev_shape.begin(), bev_shape.end());
    return c10::Dispatcher::singleton()
        .findSchemaOrThrow("opgate_ops::bev_pool_v2", "")
        .typed<at::Tensor(const at::Tensor&, const at::Tensor&, const at::Tensor&, const at::Tensor&,
                          const at::Tensor&, const at::Tensor&, const at::Tensor&, c10::SymIntArrayRef)>()
        .call(depth, feat, ranks_depth, ranks_feat, ranks_bev, starts, lengths, shape);
  }
};

at::Tensor floats(const Json& numbers) { return at::tensor(numbers.get<std::vector<float>>()); }
at::Tensor ints(const std::vector<int32_t>& numbers) { return at::tensor(numbers, at::kInt); }

const Json& vector() {
  static const Json json = [] {
    const auto root = std::filesystem::path(__FILE__).parent_path().parent_path().parent_path();
    std::ifstream file(root / "fixtures" / "vectors" / "bev_pool_v2.json");
    return Json::parse(file);
  }();
  return json;
}

Call published() {
  const Json& json = vector();
  return {floats(json["depth"]).view(json["depth_shape"].get<std::vector<int64_t>>()),
          floats(json["feat"]).view(json["feat_shape"].get<std::vector<int64_t>>()),
          ints(json["ranks_depth"]),
          ints(json["ranks_feat"]),
          ints(json["ranks_bev"]),
          ints(json["interval_starts"]),
          ints(json["interval_lengths"]),
          json["bev_shape"].get<std::vector<int64_t>>()};
}

TEST(BevPool, GivesThePublishedSum) {
  const at::Tensor out = published()();
  EXPECT_EQ(out.sizes(), (std::vector<int64_t>{1, 1, 2, 2, 2}));
  EXPECT_NEAR(out.sum().item<double>(), vector()["sum"].get<double>(), 1e-6);
}

TEST(BevPool, GivesThePublishedGradients) {
  Call call = published();
  call.depth.requires_grad_();
  call.feat.requires_grad_();
  const at::Tensor out = call();
  const auto gradients = torch::autograd::grad({out}, {call.depth, call.feat}, {at::ones_like(out)});
  EXPECT_TRUE(gradients[0].flatten().allclose(floats(vector()["grad_depth"])));
  EXPECT_TRUE(gradients[1].flatten().allclose(floats(vector()["grad_feat"])));
}

TEST(BevPool, IsWithoutGradientWhereNoneIsWanted) { EXPECT_FALSE(published()().requires_grad()); }

TEST(BevPool, GivesZerosForNoPoints) {
  Call call = published();
  for (at::Tensor* indices :
       {&call.ranks_depth, &call.ranks_feat, &call.ranks_bev, &call.starts, &call.lengths})
    *indices = ints({});
  EXPECT_TRUE(call().equal(at::zeros({1, 1, 2, 2, 2})));
}

TEST(BevPool, RefusesARankThatIsOutOfRange) {
  Call call = published();
  call.ranks_depth = ints({0, 4, 1, 8});
  try {
    call();
    FAIL() << "nothing was raised";
  } catch (const c10::Error& error) {
    EXPECT_STREQ(error.what_without_backtrace(),
                 "bev_pool_v2: ranks_depth[3] is out of range: 8, but there are 8 elements of depth");
  }
}

TEST(BevPool, SaysTheSameOfSizesWithoutData) {
  Call call = published();
  for (at::Tensor* x : {&call.depth, &call.feat, &call.ranks_depth, &call.ranks_feat, &call.ranks_bev,
                        &call.starts, &call.lengths})
    *x = x->to(at::kMeta);
  EXPECT_EQ(call().sizes(), published()().sizes());
  call.bev_shape = {2, 1, 1, 2};
  try {
    call();
    FAIL() << "nothing was raised";
  } catch (const c10::Error& error) {
    EXPECT_STREQ(error.what_without_backtrace(),
                 "bev_pool_v2: bev_shape must begin with the B of depth, 1, got [2, 1, 1, 2]");
  }
}

TEST(BevPoolPrepare, SortsPointsByVoxelAndLeavesOutThoseOutside) {
  // The points are in voxel 1, outside the grid, in voxel 0, and in voxel 1.
  const at::Tensor x = at::tensor(std::vector<float>{1.5F, -0.1F, 0.5F, 1.F});
  const at::Tensor coor = at::zeros({1, 1, 4, 1, 1, 3});
  coor.select(-1, 0).copy_(x.view({1, 1, 4, 1, 1}));
  const auto [ranks_depth, ranks_feat, ranks_bev, starts, lengths] =
      c10::Dispatcher::singleton()
          .findSchemaOrThrow("opgate_ops::bev_pool_prepare", "")
          .typed<Five(const at::Tensor&, at::ArrayRef<double>, at::ArrayRef<double>, at::IntArrayRef)>()
          .call(coor, {0., 0., 0.}, {1., 1., 1.}, {2, 1, 1});
  EXPECT_TRUE(ranks_depth.equal(ints({2, 0, 3})));
  EXPECT_TRUE(ranks_feat.equal(ints({0, 0, 0})));
  EXPECT_TRUE(ranks_bev.equal(ints({0, 1, 1})));
  EXPECT_TRUE(starts.equal(ints({0, 1})));
  EXPECT_TRUE(lengths.equal(ints({1, 2})));
}

}  // namespace
