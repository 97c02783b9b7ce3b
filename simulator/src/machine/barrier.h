// The barriers of a block (`bar` and `barrier` of PTX).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace opgate::simulator {

class Thread;

/// How `bar.red` combines the predicates of all threads.
enum class Reduction : std::uint8_t { none, count, all, any };

/// A thread that has come to a barrier.
struct Arrival {
  Thread* thread = nullptr;
  bool waits = true;  ///< not with `bar.arrive`
  Reduction reduction = Reduction::none;
  bool value = false;  ///< its predicate, for a reduction
};

class Barrier {
 public:
  /// `expected` threads must arrive; without a number, all threads of the block.
  void arrive(const Arrival& arrival, std::optional<unsigned> expected);

  /// Whether all have arrived. Threads that have exited are not waited for: of a whole block, nor in a warp
  /// that takes part, because the hardware counts a warp with its 32 threads.
  bool is_complete(const std::vector<Thread>& threads) const;

  /// Lets the waiting threads go on.
  void release();

  const std::vector<Arrival>& arrivals() const { return arrivals_; }
  std::optional<unsigned> expected() const { return expected_; }

  void reset();

 private:
  unsigned arrived(const std::vector<Thread>& threads) const;

  std::vector<Arrival> arrivals_;
  std::optional<unsigned> expected_;
};

}  // namespace opgate::simulator
