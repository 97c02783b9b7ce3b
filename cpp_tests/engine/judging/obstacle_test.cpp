// What keeps a case from being judged, before any call is made.
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "judging/all_checks.h"
#include "judging/check.h"
#include "judging/obstacle.h"
#include "plan/plan.h"
#include "run/obstacles.h"
#include "spec/spec.h"
#include "support.h"

namespace opgate::obstacle_test {
namespace {

using Kind = Obstacle::Kind;
using testing::spec_of;

std::optional<Kind> kind_of(const std::optional<Obstacle>& obstacle) {
  return obstacle ? std::optional(obstacle->kind) : std::nullopt;
}

class ObstacleTest : public ::testing::Test {
 protected:
  std::optional<Kind> kind(const Circumstances& known = {}) const {
    return kind_of(obstacle_to(spec_, check_, known));
  }

  Spec spec_ = spec_of("aten::neg", {{uniform({3})}});
  Check check_;
};

TEST_F(ObstacleTest, IsNoneIfNothingIsMissing) { EXPECT_EQ(kind(), std::nullopt); }

TEST_F(ObstacleTest, OfADeviceKeepsChecksWithoutCallsOnlyIfNoKernelsAreKnown) {
  Obstacle missing{Kind::no_device, "there is no GPU"};
  EXPECT_EQ(kind({.on_device = missing}), Kind::no_device);
  check_.needs_device = false;
  EXPECT_EQ(kind({.on_device = missing}), Kind::no_device);
  missing.calls_alone = true;
  EXPECT_EQ(kind({.on_device = missing}), std::nullopt);
}

TEST_F(ObstacleTest, IsThatOfTheDeviceBeforeThoseOfTheCheckAndTheOperator) {
  check_.missing = "onnx is not installed";
  check_.needs_fake = spec_.lacks_fake = true;
  EXPECT_EQ(kind({.on_device = Obstacle{Kind::no_kernel, "neg has no kernel"}}), Kind::no_kernel);
  EXPECT_EQ(kind(), Kind::not_installed);
  check_.missing.clear();
  EXPECT_EQ(kind({.no_package = "no compiler"}), Kind::no_fake_kernel);
  check_.needs_fake = false;
  EXPECT_EQ(kind({.no_package = "no compiler"}), Kind::no_package);
}

TEST_F(ObstacleTest, OfTheCheckItselfIsKnownToTheWorkerAlone) {
  check_.obstacle = [](const CallKey&) { return std::optional(Obstacle{Kind::unsupported, "not yet"}); };
  const CallKey key{.spec = &spec_, .sample = &spec_.samples.front(), .variant = "contiguous"};
  EXPECT_EQ(kind(), std::nullopt);
  EXPECT_EQ(kind({.in_worker = &key}), Kind::unsupported);
}

TEST(Obstacles, OfCallsOnTheCpuAreNone) {
  const std::vector<Spec> specs{spec_of("aten::neg", {{uniform({3})}})};
  const std::vector<Check> checks = native_checks();
  const Plan plan = make_plan(specs, checks);
  Obstacles obstacles(plan.calls);
  for (Calls::Position call = 0; call < plan.calls.size(); ++call) {
    for (const Check* check : plan.calls.checks(call))
      EXPECT_EQ(kind_of(obstacles.to(call, *check)), std::nullopt) << check->name;
  }
}

}  // namespace
}  // namespace opgate::obstacle_test
