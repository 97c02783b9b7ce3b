// What `opgate bench` measures: every line of its table, listed before any is.
#pragma once

#include <opgate/spec.h>

#include <string_view>
#include <vector>

namespace opgate {

enum class Direction { forward, backward };

/// "forward", "backward"
std::string_view to_string(Direction direction);

struct BenchCase {
  const Spec* spec = nullptr;
  const Bench* bench = nullptr;
  c10::DeviceType device = c10::kCPU;
  Direction direction = Direction::forward;
  int threads = 0;  ///< intra-op, on the CPU; 0 elsewhere

  /// None: it is measured, and nothing is demanded.
  std::optional<double> limit() const;

  /// The same two calls on the same data; threads may differ.
  bool same_contest(const BenchCase& other) const;
};

/// "identity_conv 4096x1024 float32 forward cpu, 2 threads"
std::string describe(const BenchCase& bench);

/// What the user asked for; empty lists ask for everything.
struct BenchFilter {
  std::vector<std::string> ops = {};         ///< shell patterns
  std::vector<std::string> devices = {};     ///< shell patterns
  std::vector<std::string> directions = {};  ///< their names
  std::vector<int> threads = {};             ///< one case each, on the CPU
};

/// Sorted by operator, bench as the spec lists them, device, direction, threads. A bench is there on each
/// device where the spec accepts its dtype; backward where the spec promises `differentiable` and the
/// operator writes to no argument. Throws SetupError where a pattern matches nothing, or nothing is left.
std::vector<BenchCase> plan_benches(const std::vector<Spec>& specs, const BenchFilter& filter);

}  // namespace opgate
