// A block that is watched: it executes instructions in place of the interpreter, and passes on to the tools
// what they do. It knows which copies and products have begun, and when they are complete.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "machine/launches/launch_observer.h"
#include "watch/async_operations.h"
#include "watch/launch_watch.h"
#include "watch/tool.h"

namespace opgate::simulator {

class BlockWatch final : public BlockObserver {
 public:
  explicit BlockWatch(LaunchWatch& launch) : launch_(launch), tools_(launch.tools_of(*this)) {}

  void begin(const Extent& index, std::size_t shared_bytes) override;
  void execute(Thread& thread, const Instruction& instruction) override;
  void follow(Thread& thread, const Instruction& instruction) override;
  void meet(const Barrier& barrier, unsigned id, const std::vector<Thread>& threads) override {
    emit(&BlockTool::meet, barrier, id, threads);
  }
  void leave_cluster_barrier(Thread& thread) override { emit(&BlockTool::leave_cluster_barrier, thread); }
  void meet_in_warp(std::span<Thread* const> lanes, std::uint32_t here, std::uint32_t named) override {
    emit(&BlockTool::meet_in_warp, lanes, here, named);
  }

  /// A tool of this block in the block that the address of an access names; null if there is no such block,
  /// which is a fault of the kernel.
  BlockTool* same_tool_of_owner(const BlockTool& tool, const Thread& thread,
                                const WatchedAccess& access) const;

 private:
  template <class... Parameters, class... Arguments>
  void emit(void (BlockTool::*event)(Parameters...), Arguments&&... arguments) {
    for (const auto& tool : tools_) (tool.get()->*event)(arguments...);
  }

  void access(Thread& thread, const Instruction& instruction, const WatchedAccess& access);
  void access_fragment(Thread& thread, const Instruction& instruction);
  void call(Thread& thread, const Instruction& instruction);
  void leave(Thread& thread, const Instruction& instruction);
  void exit(Thread& thread);

  void begin(AsyncOperation& operation, Thread& thread, const Instruction& instruction);
  void begin_copy(Thread& thread, const Instruction& instruction);
  void begin_bulk_copy(Thread& thread, const Instruction& instruction);
  void begin_tensor_copy(Thread& thread, const Instruction& instruction);
  /// A copy that an mbarrier announces the end of, or that its thread waits for.
  void keep_bulk_copy(WatchedCopy copy, const Instruction& instruction,
                      std::optional<std::uint64_t> mbarrier);
  void read_source(const WatchedCopy& copy);
  void settle_copies(Thread& thread);
  void progress(WatchedCopy& copy, bool is_read, bool is_written);

  void begin_product(Thread& thread, const Instruction& instruction);
  void read_of_product(Thread& thread, const WatchedProduct& product);
  void wait_for_products(Thread& thread, const Instruction& instruction);

  void use_mbarrier(Thread& thread, const Instruction& instruction);
  void keep_promises(std::uint64_t place);
  void keep(WatchedPromise& promise);

  void arrive_in_cluster(Thread& thread, const Instruction& instruction);
  /// Null if there is no such block, which is a fault of the kernel.
  const BlockWatch* owner_of(const Thread& thread, const WatchedAccess& access) const {
    return access.rank == 0 ? this : block_of_rank(thread, access.rank - 1);
  }
  const BlockWatch* block_of_rank(const Thread& thread, std::uint32_t rank) const;

  LaunchWatch& launch_;
  std::vector<std::unique_ptr<BlockTool>> tools_;
  AsyncOperations async_;
  std::shared_ptr<WatchedCluster> cluster_;
};

/// The place in shared memory of an address that must be in that of the thread's own block: copies to another
/// block, and arrivals there, are not watched.
std::uint64_t place_in_own_block(const Thread& thread, const Instruction& instruction, std::uint64_t address);

}  // namespace opgate::simulator
