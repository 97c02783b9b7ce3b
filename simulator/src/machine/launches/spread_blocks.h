// The blocks of a launch that several threads run, each of which has a Grid of its own.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

#include "machine/launches/block_order.h"
#include "machine/launches/launch.h"

namespace opgate::simulator {

/// A block that begins.
struct NextBlock {
  std::uint64_t linear = 0;  ///< its index
  std::uint32_t number = 0;  ///< in the order in which blocks begin
};

class SpreadBlocks {
 public:
  /// `waiting` have not begun yet, and `begun` have. A thread takes `at_once` of them at a time.
  SpreadBlocks(BlocksToBegin waiting, std::uint32_t begun, std::uint64_t at_once)
      : waiting_(std::move(waiting)), begun_(begun), at_once_(at_once) {}

  /// The next blocks of the order, the first of them at the end; none if all have begun, or if those that
  /// have not come after a fault.
  std::vector<NextBlock> take();

  /// A block has come to a fault. The one that is kept is that of the block which began first, so that it
  /// does not depend on the speed of the threads.
  void fail(std::uint32_t number, Outcome fault);

  /// Whether the block has no influence on what the launch reports: one that began earlier has a fault.
  bool is_behind_fault(std::uint32_t number) const { return number >= first_failed_; }
  bool has_failed() const { return first_failed_ != kNone; }

  void count(std::uint64_t instructions) { instructions_ += instructions; }
  std::uint64_t instructions() const { return instructions_; }

  /// For the blocks together, when all threads are done; without the number of instructions.
  Outcome take_outcome() { return std::move(fault_); }

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  std::mutex mutex_;
  BlocksToBegin waiting_;
  std::uint32_t begun_;
  std::uint64_t at_once_;
  std::atomic<std::uint32_t> first_failed_{kNone};
  std::atomic<std::uint64_t> instructions_{0};
  Outcome fault_;
};

}  // namespace opgate::simulator
