// A large launch whose blocks several threads run.
#include <algorithm>

#include "machine/faults.h"
#include "machine/launches/grid.h"
#include "machine/launches/helpers.h"

namespace opgate::simulator {
namespace {

// A thread takes blocks of about so many instructions at a time, so that threads seldom wait for each other.
constexpr std::uint64_t kInstructionsAtOnce = 50'000;
constexpr std::uint64_t kMostAtOnce = 64;

// After a fault, blocks that began before it go on, because one of them may come to a fault as well. One that
// goes on for longer may be waiting for the block with the fault.
constexpr std::uint64_t kMostTurnsBeforeFault = std::uint64_t{1} << 14;

}  // namespace

// Whether anything but the kernel itself keeps the launch on one thread: an order that was asked for, what
// blocks have in common, and what watches them.
bool Grid::may_spread() const {
  return waiting_.left() != 0 && observer_ == nullptr && launch_.schedule == nullptr &&
         launch_.instruction_limit == 0 && launch_.grid_workspace == 0 && launch_.printed == nullptr &&
         !launch_.has_clusters && launch_.cluster.count() == 1 && memory_.may_be_asked_at_once();
}

// Blocks that have begun stay with this thread. From now on, no block waits for another one to begin in the
// order of indices: kernels whose blocks wait for each other are not spread.
Outcome Grid::run_spread(unsigned threads) {
  const auto helpers = static_cast<unsigned>(
      std::min<std::uint64_t>(threads - 1, waiting_.left() - (resident_.empty() ? 1 : 0)));
  const std::uint64_t of_block = std::max<std::uint64_t>(instructions_ / begun_, 1);
  const std::uint64_t fair = waiting_.left() / (helpers + 1) / 4;
  SpreadBlocks blocks(
      std::move(waiting_), begun_,
      std::clamp<std::uint64_t>(std::min(kInstructionsAtOnce / of_block, fair), 1, kMostAtOnce));
  // Helpers that begin now have the state of this thread: its numbers of floating point are those of kernels.
  const std::size_t room = std::max<std::size_t>(most_resident_ / (helpers + 1), 1);
  do_with_helpers(
      helpers, [&] { share(blocks, room); },
      [&] {
        Grid helper(program_, launch_, memory_, listener_, nullptr);
        helper.share(blocks, room);
        blocks.count(helper.instructions_);
      });
  instructions_ += blocks.instructions();
  Outcome outcome = blocks.take_outcome();
  outcome.threads = helpers + 1;
  return outcome;
}

void Grid::share(SpreadBlocks& blocks, std::size_t room) {
  spread_ = &blocks;
  context_.is_spread = 1;
  most_resident_ = room;
  room_ = std::min(room_, room);
  for (bool goes_on = true; goes_on;) {
    try {
      goes_on = run_next();
    } catch (const KernelFault& fault) {
      blocks.fail(running_->number(), outcome_of(fault));
    }
    if (blocks.has_failed()) leave_out_behind_fault();
  }
  spread_ = nullptr;
}

void Grid::leave_out_behind_fault() {
  std::erase_if(resident_, [&](const std::unique_ptr<Block>& block) {
    return spread_->is_behind_fault(block->number()) || block->turns_taken() > kMostTurnsBeforeFault;
  });
  next_ = 0;
}

}  // namespace opgate::simulator
