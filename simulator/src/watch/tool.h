// What a tool that watches kernels implements. A tool is a folder of `watch/`, a field of `Tools`, and a row
// in tools.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "machine/launches/launch.h"
#include "machine/launches/launch_observer.h"
#include "machine/thread.h"
#include "watch/async_operations.h"
#include "watch/watched_access.h"

namespace opgate::simulator {

class BlockWatch;

/// Where a frame of a thread begins in its registers and in its local memory, and where that ends.
struct FramePlace {
  std::size_t registers = 0;
  std::size_t local = 0;
  std::size_t end_of_local = 0;

  static FramePlace of(Thread& thread) {
    return {thread.first_register(), thread.local_base(), thread.local_memory().size()};
  }
};

/// A tool in the blocks that one object of Block runs, one after the other. It overrides the events that it
/// needs. An event comes before its instruction is executed, unless its comment says that something has been
/// done.
class BlockTool {
 public:
  virtual ~BlockTool() = default;

  /// A block begins.
  virtual void begin(const Extent& /*index*/, std::size_t /*shared_bytes*/) {}

  /// The instruction is the next one of a thread whose `is_followed` a tool has set. The tool may execute it
  /// in place of the watch, if its guard holds, and then returns true.
  virtual bool follow(Thread& /*thread*/, const Instruction& /*instruction*/) { return false; }

  // Accesses to memory.

  /// A load, store, or atomic access, whose address is aligned. `owner`: the same tool in the block that the
  /// address names, which is another one of the cluster only for shared memory.
  virtual void access(Thread& /*thread*/, const Instruction& /*instruction*/, const WatchedAccess& /*access*/,
                      BlockTool& /*owner*/) {}
  /// All elements of the thread's part of a matrix (`wmma`) have been accessed.
  virtual void end_fragment(Thread& /*thread*/, const Instruction& /*instruction*/) {}

  // Asynchronous operations: copies, arrivals at an `mbarrier` that wait for copies, products of `wgmma`.

  /// A copy that begins reads a part of its source, which begins at this offset in the copy.
  virtual void read_of_copy(const WatchedCopy& /*copy*/, std::uint32_t /*offset*/,
                            const WatchedAccess& /*access*/) {}
  /// The operation begins, after what it reads at its start.
  virtual void begin_async(const AsyncOperation& /*operation*/) {}
  /// Copies of the thread are complete, because it has waited for them or exits. Events for each one follow.
  virtual void complete_by_wait(const Thread& /*thread*/) {}
  /// The copies of the promise are complete.
  virtual void complete_by_promise(const WatchedPromise& /*promise*/) {}
  /// A copy has read a part of its source by now.
  virtual void finish_reading(const WatchedCopy& /*copy*/, const WatchedAccess& /*access*/) {}
  /// A copy has written a part of its destination by now.
  virtual void finish_writing(const WatchedCopy& /*copy*/, std::uint32_t /*offset*/,
                              const WatchedAccess& /*access*/) {}
  /// The promise now counts as an arrival at its `mbarrier`.
  virtual void keep(const WatchedPromise& /*promise*/) {}
  /// Nothing more will come of the operation.
  virtual void end_async(const AsyncOperation& /*operation*/) {}

  /// `wgmma.mma_async`, which belongs to this group of its thread.
  virtual void issue_product(const Thread& /*thread*/, const Instruction& /*instruction*/,
                             std::uint64_t /*group*/) {}
  /// A product reads a part of shared memory, when it begins and when it has been waited for.
  virtual void read_of_product(const WatchedProduct& /*product*/, const WatchedAccess& /*access*/) {}
  /// `wgmma.fence`.
  virtual void fence_registers(const Thread& /*thread*/) {}
  /// `wgmma.wait_group`, for the groups before this one.
  virtual void wait_for_products(const Thread& /*thread*/, std::uint64_t /*first_left*/) {}
  /// An instruction whose annotation says that it names a register of a product.
  virtual void use_registers(const Thread& /*thread*/, const Instruction& /*instruction*/) {}

  // What orders accesses.

  virtual void fence(const Thread& /*thread*/, const Annotation& /*how*/) {}
  virtual void proxy_fence(const Thread& /*thread*/) {}
  /// `bar.arrive`.
  virtual void arrive(const Thread& /*thread*/, unsigned /*barrier*/) {}
  /// All threads that the barrier is for have come, and are about to go on.
  virtual void meet(const Barrier& /*barrier*/, unsigned /*id*/, const std::vector<Thread>& /*threads*/) {}
  /// The lanes `here` of a warp execute together what is meant for those of the mask `named`.
  virtual void meet_in_warp(std::span<Thread* const> /*lanes*/, std::uint32_t /*here*/,
                            std::uint32_t /*named*/) {}
  /// The thread has arrived at the barrier of its cluster.
  virtual void arrive_in_cluster(const Thread& /*thread*/, const Annotation& /*how*/) {}
  /// The thread has waited at the barrier of its cluster.
  virtual void leave_cluster_barrier(const Thread& /*thread*/) {}
  /// The thread has used the object of `mbarrier` at this place in shared memory.
  virtual void use_mbarrier(const Thread& /*thread*/, const Annotation& /*how*/, std::uint64_t /*place*/) {}
  /// That use has completed a phase of the object.
  virtual void complete_phase(std::uint64_t /*place*/) {}
  /// `griddepcontrol.wait`.
  virtual void wait_for_grids(const Thread& /*thread*/) {}
  /// `griddepcontrol.launch_dependents`.
  virtual void launch_dependents(const Thread& /*thread*/) {}

  // Functions.

  /// The thread has entered a function.
  virtual void call(Thread& /*thread*/, const Call& /*call*/, const FramePlace& /*caller*/) {}
  /// The thread has come back from a function.
  virtual void return_from(Thread& /*thread*/, const Function& /*function*/, const FramePlace& /*called*/) {}
  /// The thread calls a function of the host, such as `malloc` and `printf`, which returns at once.
  virtual void begin_host_call(Thread& /*thread*/, const Instruction& /*instruction*/) {}
  virtual void end_host_call(Thread& /*thread*/, const Instruction& /*instruction*/) {}
  /// The thread has exited, and the copies that it has begun for itself are complete.
  virtual void exit(const Thread& /*thread*/) {}
};

/// Executes a launch that has ended once more.
class Repetition {
 public:
  virtual ~Repetition() = default;

  /// Whether the launch leaves the same in memory with this observer in place of the tools.
  virtual bool leaves_the_same_with(LaunchObserver& observer) = 0;
  /// The same in another order of blocks and warps. Also true if the launch is not executed again, because it
  /// is long, its kernel has been repeated often enough, or several results of it are right.
  virtual bool leaves_the_same_in_another_order() = 0;
};

/// A tool, for one launch.
class Tool {
 public:
  virtual ~Tool() = default;

  /// The result may refer to `block`, which lives as long.
  virtual std::unique_ptr<BlockTool> watch_block(BlockWatch& block) = 0;

  /// A thread has got new memory by `malloc`: what others have done there before is over.
  virtual void begin_memory(std::uint64_t /*address*/, std::size_t /*bytes*/) {}

  /// Whether it has to repeat launches, for which memory is kept.
  virtual bool repeats() const { return false; }
  /// The launch has ended without a fault.
  virtual void repeat(Repetition& /*again*/) {}

  /// The launch and its repetitions have ended.
  virtual void end() {}
};

}  // namespace opgate::simulator
