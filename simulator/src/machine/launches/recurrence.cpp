#include "machine/launches/recurrence.h"

#include "machine/state_digest.h"

namespace opgate::simulator {
namespace {

// A loop that waits longer each time, up to a limit, has a long period.
constexpr unsigned kMostRounds = 256;
// The longest that late stores are hidden, in turns of blocks that end without their block; see LateStores.
constexpr unsigned kLeastRounds = 32;

std::uint64_t digest_of(const std::vector<std::unique_ptr<Block>>& blocks) {
  StateDigest digest;
  for (const auto& block : blocks) block->add_to(digest);
  return digest.value();
}

}  // namespace

bool Recurrence::is_found(std::uint64_t instructions, std::uint64_t looks_at_clock,
                          const std::vector<std::unique_ptr<Block>>& blocks, const DeviceMemory& memory,
                          bool host_may_write) {
  const std::uint64_t threads = digest_of(blocks);
  if (!threads_) {
    threads_ = threads;
    looks_at_clock_ = looks_at_clock;
    return false;
  }
  ++rounds_;
  if (looks_at_clock != looks_at_clock_ || rounds_ > kMostRounds) {
    give_up(instructions);
    return false;
  }
  if (threads != *threads_) return false;
  if (memory_ && rounds_ < kLeastRounds) return false;
  const std::optional<std::uint64_t> now = memory.digest(host_may_write);
  if (memory_ && now == memory_) return true;
  if (memory_ || !now) {
    give_up(instructions);
    return false;
  }
  memory_ = now;
  rounds_ = 0;
  return false;
}

// The next look comes after as many instructions again, so that looking takes a small part of the time.
void Recurrence::give_up(std::uint64_t instructions) {
  due_ = 2 * instructions;
  threads_.reset();
  memory_.reset();
  rounds_ = 0;
}

}  // namespace opgate::simulator
