// What may watch a launch while the interpreter executes it. The machine knows only these interfaces; the
// tools implement them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "machine/launches/launch.h"

namespace opgate::simulator {

class Barrier;
class Thread;
struct Instruction;

/// Watches the blocks that one object of Block runs, one after the other.
class BlockObserver {
 public:
  virtual ~BlockObserver() = default;

  /// A block begins.
  virtual void begin(const Extent& index, std::size_t shared_bytes) = 0;

  /// The block goes on, has run long since then, and later stops.
  virtual void begin_turn() {}
  virtual void let_time_pass() {}
  virtual void end_turn() {}

  /// Executes an instruction that has an annotation and whose guard holds.
  virtual void execute(Thread& thread, const Instruction& instruction) = 0;

  /// Executes an instruction of a thread that is followed, if its guard holds.
  virtual void follow(Thread& thread, const Instruction& instruction) = 0;

  /// All threads that the barrier is for have come, and are about to go on.
  virtual void meet(const Barrier& barrier, unsigned id, const std::vector<Thread>& threads) = 0;

  /// The thread has waited at the barrier of its cluster, and is about to go on.
  virtual void leave_cluster_barrier(Thread& thread) = 0;

  /// The lanes `here` of a warp execute together what is meant for those of the mask `named`.
  virtual void meet_in_warp(std::span<Thread* const> lanes, std::uint32_t here, std::uint32_t named) = 0;
};

class LaunchObserver {
 public:
  virtual ~LaunchObserver() = default;
  virtual std::unique_ptr<BlockObserver> watch_block() = 0;

  /// A thread has got new memory by `malloc`: what others have done there before is over.
  virtual void begin_memory(std::uint64_t address, std::size_t bytes) = 0;
};

}  // namespace opgate::simulator
