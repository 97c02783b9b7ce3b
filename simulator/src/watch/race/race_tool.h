// The tool `race`, for one launch: where it reports, and what it does after the launch.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>

#include "watch/race/held_copies.h"
#include "watch/race/launches_in_flight.h"
#include "watch/race/race_detector.h"
#include "watch/race/release_log.h"
#include "watch/tool.h"
#include "watch/watched_launch.h"

namespace opgate::simulator {

/// What all blocks of a cluster that arrived at its barrier knew, phase by phase.
struct ClusterReleases {
  std::shared_ptr<ReleaseLog> log = std::make_shared<ReleaseLog>();
  std::uint64_t phase = 1;            ///< to which the end of the log belongs
  std::array<std::size_t, 2> ends{};  ///< of the log, for phases before: even and odd ones

  /// The length of the log that a wait for this phase acquires.
  std::size_t length_of(std::uint64_t of_phase) const {
    return of_phase == phase ? log->length() : ends[of_phase % 2];
  }
};

class RaceTool final : public Tool {
 public:
  explicit RaceTool(const WatchedLaunch& launch);

  std::unique_ptr<BlockTool> watch_block(BlockWatch& block) override;
  void begin_memory(std::uint64_t address, std::size_t bytes) override { races_.forget(address, bytes); }
  bool repeats() const override { return true; }
  void repeat(Repetition& again) override;
  void end() override { in_flight_.end(); }

  const WatchedLaunch& launch() const { return launch_; }
  LaunchesInFlight& in_flight() { return in_flight_; }
  RaceDetector& races() { return races_; }

  /// The releases of the cluster of a block that begins.
  std::shared_ptr<ClusterReleases> releases_of_cluster(const Extent& index);

  /// Reports a race of an access that a thread is about to make, unless that is no mistake.
  void consider(Thread& thread, const Instruction& instruction, const WatchedAccess& access,
                const RaceDetector::Race& race);
  void report(const Thread& thread, const WatchedAccess& access, const RaceDetector::Race& race,
              const std::string& hint = {});

 private:
  bool may_be_of_copies(const Thread& thread, const WatchedAccess& access,
                        const RaceDetector::Race& race) const;
  void keep_race_of_copies(const Thread& thread, const WatchedAccess& access, const RaceDetector::Race& race);
  Finding finding_of(const Thread& thread, const WatchedAccess& access, const RaceDetector::Race& race,
                     const std::string& hint) const;
  bool is_in_block_of(const Thread& thread, const AccessRecord& access) const;
  void repeat_with_copies(Repetition& again);
  void report_dependence_on_order();

  const WatchedLaunch& launch_;
  LaunchesInFlight only_this_launch_;  ///< for one without launches before it
  LaunchesInFlight& in_flight_;
  RaceDetector& races_;
  /// By the linear indices of clusters.
  std::unordered_map<std::uint64_t, std::weak_ptr<ClusterReleases>> clusters_;
  HeldCopies copies_;  ///< races that are mistakes only if results depend on the copies of an element
  bool has_met_race_ = false;
};

}  // namespace opgate::simulator
