// Kernels that may begin before the kernel before them has ended: what they do too early is a race of two
// kernels, and right kernels wait first.
#include "kernels/kernels.h"
#include "watch/race/launches_in_flight.h"
#include "watched.h"

namespace opgate::simulator::tests {
namespace dependent_launch_test {

/// Which memory a launch is given: the number of its allocation.
struct Step {
  std::string kernel;
  int out = 0;
  int in = 0;
  bool begins_early = true;
};

constexpr int kValues = 0;  ///< the first kernel writes them
constexpr int kMore = 1;    ///< it reads them
constexpr int kOut = 2;
constexpr int kOther = 3;

Step first(const std::string& kernel = "first") { return {kernel, kValues, kMore, false}; }

/// Launches of one stream one after the other, in one seed.
std::vector<Finding> found_in_seed(const std::vector<Step>& steps, std::uint64_t seed) {
  FakeDevice device;
  std::vector<std::uint64_t> memory;
  for (int i = 0; i < 4; ++i) memory.push_back(device.allocate(std::vector<std::uint32_t>(128)));
  const std::unique_ptr<Module> module = Module::parse(ptx::dependent);
  Observer observer({.init = true, .race = true, .sync = true});
  LaunchesInFlight in_flight;
  for (const Step& step : steps) {
    const auto at = [&](int allocation) { return memory[static_cast<std::size_t>(allocation)]; };
    Launch launch = launch_of(step.kernel, {2}, {64}, Arguments(at(step.out), at(step.in)));
    launch.observer = &observer;
    launch.order_seed = seed;
    launch.in_flight = &in_flight;
    launch.begins_early = step.begins_early;
    expect_no_fault(module->run(launch, device));
  }
  return observer.take_findings();
}

std::vector<Finding> found_in(const std::vector<Step>& steps) {
  std::vector<Finding> findings = found_in_seed(steps, 0);
  for (const std::uint64_t seed : {1, 2})
    EXPECT_EQ(found_in_seed(steps, seed).empty(), findings.empty()) << "the seeds disagree";
  return findings;
}

void expect_race(const std::vector<Step>& steps, const std::string& words) {
  expect_finding(found_in(steps), Finding::Kind::race, words);
}

const std::string kReads = "ld.global.u32 races with st.global.u32 of thread";
const std::string kWrites = "st.global.u32 races with st.global.u32 of thread";
const std::string kOverwrites = "st.global.u32 races with ld.global.u32 of thread";

TEST(SimulatedDependentLaunches, RightKernels) {
  for (const char* const before : {"first", "first_that_ends"}) {
    expect_nothing(found_in({first(before), {"waits", kOut, kValues}}));
    expect_nothing(found_in({first(before), {"waits_in_one_thread", kOut, kValues}}));
    expect_nothing(found_in({first(before), {"triggers_and_waits", kMore, kValues}}));
    expect_nothing(found_in({first(before), {"never_waits", kOut, kOther}}));
    // Without the attribute, the kernel begins when the one before has ended.
    expect_nothing(found_in({first(before), {"never_waits", kOut, kValues, false}}));
  }
}

TEST(SimulatedDependentLaunches, AKernelThatNeverWaits) {
  expect_race({first(), {"never_waits", kOut, kValues}}, kReads);
  // Its blocks have ended then, but what they have written may not be visible.
  expect_race({first("first_that_ends"), {"never_waits", kOut, kValues}}, kReads);
}

TEST(SimulatedDependentLaunches, AReadBeforeTheWait) {
  const std::vector<Finding> found = found_in({first(), {"reads_too_early", kOut, kValues}});
  ASSERT_EQ(found.size(), 1u) << in_lines(found);
  EXPECT_EQ(found[0].count, 128u);
  EXPECT_EQ(found[0].kernel, "reads_too_early");
  EXPECT_NE(found[0].message.find("of a kernel before: both access the same global memory"),
            std::string::npos);
  EXPECT_NE(found[0].message.find("needs griddepcontrol.wait"), std::string::npos);
  EXPECT_EQ(found[0].other->kernel, "first");
  EXPECT_NE(found[0].place.location.find("dependent.cu:"), std::string::npos) << found[0].place.location;
  EXPECT_NE(found[0].other->location.find("dependent.cu:8"), std::string::npos) << found[0].other->location;
  EXPECT_NE(to_text(found[0]).find("(kernel first, block "), std::string::npos) << to_text(found[0]);
}

TEST(SimulatedDependentLaunches, AWriteBeforeTheWait) {
  expect_race({first(), {"waits", kValues, kOther}}, kWrites);
  expect_race({first("first_that_ends"), {"waits", kValues, kOther}}, kWrites);
  // What the first kernel reads: a block that has ended has read it.
  expect_race({first(), {"waits", kMore, kValues}}, kOverwrites);
  expect_nothing(found_in({first("first_that_ends"), {"waits", kMore, kValues}}));
}

TEST(SimulatedDependentLaunches, AWaitInSomeThreadsOnly) {
  expect_race({first(), {"waits_in_some_threads", kOut, kValues}}, kReads);
  const std::vector<Finding> found = found_in({first(), {"waits_in_some_blocks", kOut, kValues}});
  ASSERT_EQ(found.size(), 1u) << in_lines(found);
  EXPECT_EQ(found[0].count, 64u);
  EXPECT_EQ(found[0].place.block.x, 1u);
}

TEST(SimulatedDependentLaunches, AThirdKernel) {
  const Step reads{"never_waits", kOut, kValues};
  // The second one begins, and so lets the third one begin, after the first one has ended; or before.
  expect_nothing(found_in({first(), {"waits_and_triggers", kOther, kMore}, reads}));
  expect_race({first(), {"triggers_and_waits", kOther, kMore}, reads}, kReads);
  expect_nothing(found_in({first(), {"triggers_and_waits", kOther, kMore}, {"waits", kOut, kValues}}));
  // A kernel that does not wait may end before the one before it.
  expect_race({first(), {"never_waits", kOther, kOther}, {"waits", kOut, kValues}}, kReads);
  expect_nothing(found_in({first(), {"never_waits", kOther, kOther, false}, {"waits", kOut, kValues}}));
}

TEST(SimulatedDependentLaunches, AnOperationBefore) {
  LaunchesInFlight in_flight;
  FakeDevice device;
  const std::uint64_t values = device.allocate(std::vector<std::uint32_t>(128));
  const std::uint64_t out = device.allocate(std::vector<std::uint32_t>(128));
  const std::unique_ptr<Module> module = Module::parse(ptx::dependent);
  Observer observer({.race = true});
  for (const char* const kernel : {"waits", "never_waits"}) {
    in_flight.add_operation("aten::relu", {{values + 4, 100}});
    Launch launch = launch_of(kernel, {2}, {64}, Arguments(out, values));
    launch.observer = &observer;
    launch.in_flight = &in_flight;
    launch.begins_early = true;
    expect_no_fault(module->run(launch, device));
  }
  const std::vector<Finding> found = observer.take_findings();
  ASSERT_EQ(found.size(), 1u) << in_lines(found);
  EXPECT_EQ(found[0].kernel, "never_waits");
  EXPECT_EQ(found[0].count, 25u);
  EXPECT_EQ(found[0].other->instruction, "aten::relu");
}

}  // namespace dependent_launch_test
}  // namespace opgate::simulator::tests
