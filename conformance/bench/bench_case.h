// The cases of `opgate bench`, one for each line of its table. All are listed before any is measured.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "spec/bench.h"

namespace opgate {

struct Spec;

enum class Direction { forward, backward };

/// "forward", "backward"
std::string_view to_string(Direction direction);

struct BenchCase {
  const Spec* spec = nullptr;
  const Bench* bench = nullptr;
  c10::DeviceType device = c10::kCPU;
  Direction direction = Direction::forward;
  int threads = 0;  ///< intra-op threads on the CPU; 0 on other devices

  /// The least ratio of baseline time to operator time that the spec demands; none if it demands none.
  std::optional<double> limit() const;

  /// Whether both cases time the same two calls on the same data. The number of threads may differ.
  bool same_pair(const BenchCase& other) const;
};

/// "identity_conv 4096x1024 float32 forward cpu, 2 threads"
std::string describe(const BenchCase& bench);

/// What the user selected. An empty list of patterns selects everything.
struct BenchFilter {
  std::vector<std::string> ops = {};         ///< shell patterns
  std::vector<std::string> devices = {};     ///< shell patterns
  std::vector<std::string> directions = {};  ///< shell patterns
  std::vector<int> threads = {};             ///< thread counts: one case for each, on the CPU
};

/// The cases, sorted by operator, bench in the order of the spec, device, direction, threads. A bench has a
/// case on each device where the spec accepts its dtype, and a backward case where the spec promises
/// `differentiable` and the operator writes to no argument. Throws SetupError if a pattern matches
/// nothing, or no case is left.
std::vector<BenchCase> plan_benches(const std::vector<Spec>& specs, const BenchFilter& filter);

}  // namespace opgate
