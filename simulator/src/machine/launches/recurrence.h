// Finds launches that do not end.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "machine/block.h"
#include "machine/launches/launch.h"

namespace opgate::simulator {

/// Looks whether everything that decides how a launch goes on is once more as it was: then it would go on in
/// the same way again and again. This is what its threads hold, their shared and local memory, and all memory
/// of the devices. A launch that looks at the clock depends on more.
class Recurrence {
 public:
  /// How many instructions the launch executes before it is worth a look.
  std::uint64_t due() const { return due_; }

  /// To be called after each block that has begun and not ended has had its turn, if no block can begin.
  bool is_found(std::uint64_t instructions, std::uint64_t looks_at_clock,
                const std::vector<std::unique_ptr<Block>>& blocks, const DeviceMemory& memory,
                bool host_may_write);

 private:
  void give_up(std::uint64_t instructions);

  std::uint64_t due_ = std::uint64_t{1} << 26;
  std::optional<std::uint64_t> threads_;  ///< a digest of what they held
  std::optional<std::uint64_t> memory_;   ///< and of the memory, when they first held the same again
  std::uint64_t looks_at_clock_ = 0;
  unsigned rounds_ = 0;  ///< since one of them was taken
};

}  // namespace opgate::simulator
