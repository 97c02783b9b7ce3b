// The tool `race` in one block.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "watch/race/proxy_fences.h"
#include "watch/race/race_detector.h"
#include "watch/race/race_tool.h"

namespace opgate::simulator {

class RaceOfBlock final : public BlockTool {
 public:
  explicit RaceOfBlock(RaceTool& tool) : tool_(tool), detector_(tool.races()) {}

  void begin(const Extent& index, std::size_t shared_bytes) override;
  void access(Thread& thread, const Instruction& instruction, const WatchedAccess& access,
              BlockTool& owner) override;

  void read_of_copy(const WatchedCopy& copy, std::uint32_t offset, const WatchedAccess& access) override;
  void begin_async(const AsyncOperation& operation) override;
  void complete_by_wait(const Thread& thread) override;
  void complete_by_promise(const WatchedPromise& promise) override;
  void finish_reading(const WatchedCopy& copy, const WatchedAccess& access) override;
  void finish_writing(const WatchedCopy& copy, std::uint32_t offset, const WatchedAccess& access) override;
  void keep(const WatchedPromise& promise) override;
  void end_async(const AsyncOperation& operation) override { begun_.erase(operation.number); }
  void read_of_product(const WatchedProduct& product, const WatchedAccess& access) override;

  void fence(const Thread& thread, const Annotation& how) override;
  void proxy_fence(const Thread& thread) override;
  void arrive(const Thread& thread, unsigned barrier) override;
  void meet(const Barrier& barrier, unsigned id, const std::vector<Thread>& threads) override;
  void meet_in_warp(std::span<Thread* const> lanes, std::uint32_t here, std::uint32_t named) override;
  void arrive_in_cluster(const Thread& thread, const Annotation& how) override;
  void leave_cluster_barrier(const Thread& thread) override;
  void use_mbarrier(const Thread& thread, const Annotation& how, std::uint64_t place) override;
  void complete_phase(std::uint64_t place) override;
  void wait_for_grids(const Thread& thread) override;
  void launch_dependents(const Thread& thread) override;
  void exit(const Thread& thread) override;

 private:
  /// An object of `mbarrier`.
  struct Phases {
    std::vector<std::shared_ptr<const Release>> arrived;  ///< in this phase
    std::shared_ptr<const Release> complete;              ///< all that arrived in the phase before
  };

  void look_for_proxy_fence(const Thread& thread, const WatchedAccess& access);
  void release_to_cluster();

  RaceTool& tool_;
  RaceDetector& detector_;
  BlockRaces races_;
  ProxyFences proxy_fences_;
  /// What the threads knew that have begun asynchronous operations, by their numbers.
  std::unordered_map<std::uint64_t, std::shared_ptr<const Release>> begun_;
  std::uint32_t completion_ = 0;  ///< the time of the block at which copies are complete
  std::unordered_map<std::uint64_t, Phases> mbarriers_;  ///< by their place in shared memory
  std::shared_ptr<ClusterReleases> cluster_;
  std::size_t cluster_arrivals_ = 0;                              ///< in this phase
  std::vector<std::shared_ptr<const Release>> cluster_releases_;  ///< what they knew
  std::size_t exited_ = 0;                                        ///< threads
};

}  // namespace opgate::simulator
