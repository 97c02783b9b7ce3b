// Launches that tools watch.
#pragma once

#include <string>
#include <vector>

#include "fake_device.h"
#include "watch/observer.h"

namespace opgate::simulator::tests {

/// The host reads all memory of the device, as a program does with its results.
inline void read_all(Observer& observer, const FakeDevice& device) {
  device.for_each_allocation(
      [&](std::uint64_t address, std::size_t bytes) { observer.read("a copy to the host", address, bytes); });
}

/// Runs a launch with one seed, and gives what the tools find, also when the host reads what the launch has
/// computed.
inline std::vector<Finding> findings_of_launch(FakeDevice& device, const std::string& ptx, Launch launch,
                                               const Tools& tools, std::uint64_t seed,
                                               bool threads_hold_copies = false) {
  const std::unique_ptr<Module> module = Module::parse(ptx, threads_hold_copies);
  place_variables(*module, device);
  Observer observer(tools);
  launch.observer = &observer;
  launch.order_seed = seed;
  const Outcome outcome = module->run(launch, device);
  expect_no_fault(outcome);
  EXPECT_FALSE(outcome.compiled);
  read_all(observer, device);
  return observer.take_findings();
}

/// The same of the kernel `k` with one pointer to zeros, in three seeds, which must agree on whether there is
/// anything. What the last one finds.
inline std::vector<Finding> findings_of(const std::string& ptx, Extent grid, Extent block, const Tools& tools,
                                        bool threads_hold_copies = false) {
  std::vector<Finding> findings;
  for (const std::uint64_t seed : {0, 1, 2}) {
    FakeDevice device;
    const std::uint64_t memory = device.allocate(std::vector<std::uint32_t>(4096));
    std::vector<Finding> found = findings_of_launch(
        device, ptx, launch_of("k", grid, block, Arguments(memory)), tools, seed, threads_hold_copies);
    EXPECT_TRUE(seed == 0 || found.empty() == findings.empty()) << "the seeds disagree";
    findings = std::move(found);
  }
  return findings;
}

inline std::string in_lines(const std::vector<Finding>& findings) {
  std::string lines;
  for (const Finding& finding : findings) lines += to_line(finding) + "\n";
  return lines;
}

inline void expect_nothing(const std::vector<Finding>& findings) {
  EXPECT_TRUE(findings.empty()) << in_lines(findings);
}

/// At least one of this kind, whose message has these words.
inline void expect_finding(const std::vector<Finding>& findings, Finding::Kind kind,
                           const std::string& words) {
  for (const Finding& finding : findings) {
    if (finding.kind == kind && finding.message.find(words) != std::string::npos) return;
  }
  ADD_FAILURE() << "nothing like: " << words << "\n" << in_lines(findings);
}

}  // namespace opgate::simulator::tests
