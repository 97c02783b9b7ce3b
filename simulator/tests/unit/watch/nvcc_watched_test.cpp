// What the tools find in kernels from nvcc with a known mistake, and that they find nothing in their right
// twins.
#include "kernels/kernels.h"
#include "watched.h"

namespace opgate::simulator::tests {
namespace nvcc_watched_test {

constexpr Tools kAllTools{.init = true, .race = true, .sync = true};

/// Runs a kernel of two or three pointers in three seeds. What the last one finds.
std::vector<Finding> found_in(const char* ptx, const std::string& kernel, Extent grid, Extent block) {
  std::vector<Finding> findings;
  for (const std::uint64_t seed : {0, 1, 2}) {
    FakeDevice device;
    std::vector<std::uint32_t> in(2048);
    for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<std::uint32_t>(0x3f800000 + i % 7);
    const std::uint64_t out = device.allocate(std::vector<std::uint32_t>(128));
    const std::uint64_t from = device.allocate(in);
    const std::uint64_t partial = device.allocate(std::vector<std::uint32_t>(64));
    const bool branches = kernel.starts_with("branch");
    const Arguments arguments = branches                     ? Arguments(out, from, 40)
                                : kernel.starts_with("last") ? Arguments(out, from, partial)
                                                             : Arguments(out, from);
    Launch launch = launch_of(kernel, grid, block, arguments);
    if (kernel.starts_with("grid")) launch.grid_workspace = partial;
    std::vector<Finding> found = findings_of_launch(device, ptx, launch, kAllTools, seed);
    EXPECT_TRUE(seed == 0 || found.empty() == findings.empty()) << "the seeds disagree";
    findings = std::move(found);
  }
  return findings;
}

void expect_race(const std::vector<Finding>& findings, const std::string& space) {
  expect_finding(findings, Finding::Kind::race, "the same " + space + " memory");
}

TEST(SimulatedMistakes, ATreeWithoutBarriers) {
  expect_nothing(found_in(ptx::reductions, "tree_right", {4}, {256}));
  expect_race(found_in(ptx::reductions, "tree_wrong", {4}, {256}), "shared");
}

TEST(SimulatedMistakes, TheLastStepsWithoutBarriersOfTheWarp) {
  expect_nothing(found_in(ptx::reductions, "warp_right", {2}, {64}));
  expect_race(found_in(ptx::reductions, "warp_wrong", {2}, {64}), "shared");
}

TEST(SimulatedMistakes, TheLastBlockWithoutFences) {
  expect_nothing(found_in(ptx::reductions, "last_right", {8}, {64}));
  const std::vector<Finding> found = found_in(ptx::reductions, "last_wrong", {8}, {64});
  expect_race(found, "global");
  for (const Finding& finding : found) EXPECT_EQ(finding.space, "global") << to_line(finding);
}

TEST(SimulatedMistakes, AGridThatMeetsTooRarely) {
  expect_nothing(found_in(ptx::grid, "grid_right", {4}, {32}));
  expect_race(found_in(ptx::grid, "grid_wrong", {4}, {32}), "global");
}

TEST(SimulatedMistakes, Histograms) {
  expect_nothing(found_in(ptx::mistaken, "histogram_right", {4}, {128}));
  expect_race(found_in(ptx::mistaken, "histogram_no_atomic", {4}, {128}), "shared");
  expect_race(found_in(ptx::mistaken, "histogram_no_barrier", {4}, {128}), "shared");
  expect_finding(found_in(ptx::mistaken, "histogram_not_cleared", {4}, {128}), Finding::Kind::init,
                 "of shared memory that was not written");
}

TEST(SimulatedMistakes, AScanInOneBuffer) {
  expect_nothing(found_in(ptx::mistaken, "scan_right", {2}, {128}));
  expect_race(found_in(ptx::mistaken, "scan_wrong", {2}, {128}), "shared");
}

TEST(SimulatedMistakes, ABarrierInABranch) {
  expect_nothing(found_in(ptx::mistaken, "branch_right", {2}, {64}));
  expect_finding(found_in(ptx::mistaken, "branch_wrong", {2}, {64}), Finding::Kind::sync,
                 "bar.sync is for all threads of the block, of which 24 threads have exited");
}

}  // namespace nvcc_watched_test
}  // namespace opgate::simulator::tests
