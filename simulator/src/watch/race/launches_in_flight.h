// The launches of one stream that may still run when the next one begins (programmatic dependent launch).
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include <opgate_sim/finding.h>
#include "machine/launches/launch.h"
#include "watch/race/race_detector.h"
#include "watch/race/release_log.h"

namespace opgate::simulator {

struct Program;

struct ByteRange {
  std::uint64_t begin = 0;
  std::size_t bytes = 0;
};

/// What a launch with the attribute does before it waits is not ordered with the launch before it. That one
/// lets it begin when each of its blocks has executed `griddepcontrol.launch_dependents` or has ended; its
/// writes are visible only behind `griddepcontrol.wait`. Blocks have numbers that go on from launch to
/// launch, so that the tool `race` sees accesses of two launches as it sees those of two blocks.
class LaunchesInFlight {
 public:
  /// A launch begins. All before have ended, unless it begins early. The program must exist until `end`.
  void begin(const Program& program, const Launch& launch);
  void end();

  /// An operation that no tool watches has begun behind all launches, and has written these bytes. It lets
  /// the next launch begin when it ends.
  void add_operation(const std::string& name, const std::vector<ByteRange>& written);

  /// The number of a block of this launch that begins.
  std::uint32_t begin_block(const Extent& index);
  /// A thread of the block has waited for the launches before: it now knows `awaited()`.
  void wait(std::uint32_t block);
  const std::shared_ptr<const ReleaseLog>& awaited() const { return awaited_; }
  /// A thread of the block lets the next launch begin.
  void trigger(std::uint32_t block);

  RaceDetector& races() { return races_; }

  /// Whether a launch before this one has made the access.
  bool is_before(const AccessRecord& access) const { return access.block < launches_.back().first; }
  /// How many launches ago it was made.
  std::uint32_t launches_ago(const AccessRecord& access) const;
  /// Whether the block of the access had ended when this launch began. Its reads have happened then, although
  /// its writes may not be visible.
  bool had_ended(const AccessRecord& access) const;
  /// The index of a block in its grid.
  std::uint64_t index_of_block(std::uint32_t block) const;
  FindingPlace place_of(const AccessRecord& access) const;

 private:
  struct Block {
    std::uint64_t index = 0;
    bool has_triggered = false;
  };
  struct Site {
    std::string instruction;
    std::string location;
  };
  struct Watched {
    std::uint32_t first = 1;           ///< the number of its first block
    const Program* program = nullptr;  ///< null when it has ended
    std::string kernel;
    Extent grid;
    Extent block;
    std::vector<Block> blocks;
    std::vector<Site> sites = {};         ///< by the numbers of instructions, when it has ended
    std::vector<ByteRange> written = {};  ///< of an operation, until the next launch begins
    bool waits = false;                   ///< it ends after the launches before it
    bool waits_first = false;             ///< the next one begins after the launches before it
  };

  const Watched& launch_of(std::uint32_t block) const;

  std::deque<Watched> launches_;  ///< the last one is this launch
  RaceDetector races_;
  std::shared_ptr<const ReleaseLog> awaited_;
};

}  // namespace opgate::simulator
