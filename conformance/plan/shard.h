// One of N parts of a plan, so that N machines can share a run.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace opgate {

/// Which part, and of how many; see ShardAssignment. A part is empty if the plan has fewer calls than
/// parts.
struct Shard {
  uint32_t index = 1;  ///< from 1
  uint32_t count = 1;

  /// True for every `count`-th call, beginning with the `index`-th.
  bool holds(uint32_t call) const { return call % count == index - 1; }
  bool operator==(const Shard&) const = default;
};

/// "2/3"
std::string to_string(const Shard& shard);

/// The inverse. Throws SetupError for text that is not I/N with 1 <= I <= N.
Shard shard_from_string(std::string_view text);

}  // namespace opgate
