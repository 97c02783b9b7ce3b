// Launches of kernels on memory of the host, in tests.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "fake_memory.h"

namespace opgate::simulator::tests {

/// Parses a module with one kernel `k`, and runs that.
inline Outcome run(FakeDevice& device, const std::string& ptx, Extent grid, Extent block,
                   const Arguments& arguments, std::size_t dynamic_shared = 0) {
  const std::unique_ptr<Module> module = Module::parse(ptx);
  Launch launch = launch_of("k", grid, block, arguments);
  launch.dynamic_shared_bytes = dynamic_shared;
  if (module->find("k") == nullptr) ADD_FAILURE() << "no kernel";
  return module->run(launch, device);
}

inline void expect_no_fault(const Outcome& outcome) {
  EXPECT_EQ(static_cast<int>(outcome.fault), 0) << outcome.message << " at " << outcome.location;
}

/// What a kernel of `kernel_of` leaves in memory of so many 32-bit values, which begin as 0.
inline std::vector<std::uint32_t> values_of(const std::string& ptx, std::size_t values, Extent block,
                                            Extent grid = {}, std::size_t dynamic_shared = 0) {
  FakeDevice device;
  const std::uint64_t memory = device.allocate(std::vector<std::uint32_t>(values));
  expect_no_fault(run(device, ptx, grid, block, Arguments(memory), dynamic_shared));
  return device.read<std::uint32_t>(memory);
}

}  // namespace opgate::simulator::tests
