// The tool `traffic`: for the lines of a kernel that load or store, how much more of the memory system their
// accesses take than they need. Counts are no mistakes, so that they are notes and not findings.
#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "machine/faults.h"
#include "watch/tool.h"
#include "watch/traffic/traffic_counts.h"
#include "watch/watched_launch.h"

namespace opgate::simulator {
namespace traffic_tool {

// A kernel has few lines that matter.
constexpr std::size_t kMostLines = 8;

std::string right_aligned(const std::string& text) {
  constexpr std::size_t kWidth = 10;
  return std::string(kWidth - std::min(kWidth, text.size()), ' ') + text;
}

std::string row_of(const std::string& sectors, const std::string& enough, const std::string& passes,
                   const std::string& line) {
  return right_aligned(sectors) + right_aligned(enough) + right_aligned(passes) + "  " + line;
}

class TrafficTool final : public Tool {
 public:
  explicit TrafficTool(const WatchedLaunch& launch) : launch_(launch) {}

  std::unique_ptr<BlockTool> watch_block(BlockWatch& block) override;
  void end() override;

  const Launch& launch() const { return launch_.launch; }
  void add(std::uint32_t site, const TrafficCounts& counts) { of_sites_[site].add(counts); }

 private:
  const WatchedLaunch& launch_;
  std::map<std::uint32_t, TrafficCounts> of_sites_;
};

/// The threads of a warp run one after the other. What they do by the same execution of an instruction, each
/// counting its own, is one access of the warp.
class TrafficOfBlock final : public BlockTool {
 public:
  explicit TrafficOfBlock(TrafficTool& tool) : tool_(tool), threads_(tool.launch().block.count()) {}

  void begin(const Extent& /*index*/, std::size_t /*shared_bytes*/) override {
    executions_.clear();
    exited_ = 0;
  }
  void access(Thread& thread, const Instruction& instruction, const WatchedAccess& access,
              BlockTool& owner) override;
  void exit(const Thread& thread) override;

 private:
  /// Warp, site, and which execution.
  using Key = std::tuple<std::uint32_t, std::uint32_t, std::uint64_t>;
  struct Access {
    Space space = Space::global;
    unsigned bytes = 0;
    std::vector<std::uint64_t> addresses;  ///< of threads
  };

  // More than a warp begins before its last thread has had its turn.
  static constexpr std::size_t kMostBegun = std::size_t{1} << 14;

  void count_oldest();
  void count(std::map<Key, Access>::iterator access);

  TrafficTool& tool_;
  std::size_t threads_;
  std::unordered_map<std::uint64_t, std::uint64_t> executions_;  ///< of each site by each thread
  std::map<Key, Access> begun_;
  std::deque<Key> in_order_;  ///< of their begin, also of those that are counted
  std::size_t exited_ = 0;
};

void TrafficOfBlock::access(Thread& thread, const Instruction& /*instruction*/, const WatchedAccess& access,
                            BlockTool& /*owner*/) {
  const Annotation& how = *access.annotation;
  const bool moves = how.kind == Annotation::Kind::load || how.kind == Annotation::Kind::store;
  if (!moves || how.is_fragment || (access.space != Space::global && access.space != Space::shared)) return;
  const std::uint64_t execution = executions_[std::uint64_t{how.site} << 32 | thread.linear]++;
  const std::uint32_t warp = thread.linear / kWarpSize;
  const auto [begun, is_new] = begun_.try_emplace(Key{warp, how.site, execution});
  if (is_new) {
    begun->second = {access.space, how.bytes, {}};
    in_order_.push_back(begun->first);
  }
  begun->second.addresses.push_back(access.address);
  const std::size_t lanes = std::min<std::size_t>(how.rows, threads_ - std::size_t{warp} * kWarpSize);
  if (begun->second.addresses.size() == lanes) count(begun);
  while (begun_.size() > kMostBegun) count_oldest();
}

void TrafficOfBlock::count_oldest() {
  const auto oldest = begun_.find(in_order_.front());
  in_order_.pop_front();
  if (oldest != begun_.end()) count(oldest);
}

void TrafficOfBlock::count(std::map<Key, Access>::iterator access) {
  Access& of_warp = access->second;
  tool_.add(std::get<1>(access->first),
            traffic_of(of_warp.space, of_warp.bytes, std::move(of_warp.addresses)));
  begun_.erase(access);
  while (!in_order_.empty() && !begun_.contains(in_order_.front())) in_order_.pop_front();
}

void TrafficOfBlock::exit(const Thread& /*thread*/) {
  if (++exited_ < threads_) return;
  while (!begun_.empty()) count_oldest();
}

std::unique_ptr<BlockTool> TrafficTool::watch_block(BlockWatch& /*block*/) {
  return std::make_unique<TrafficOfBlock>(*this);
}

void TrafficTool::end() {
  std::map<std::string, TrafficCounts> of_lines;
  for (const auto& [site, counts] : of_sites_)
    of_lines[location_in(launch_.program, launch_.instruction_at(site))].add(counts);
  if (of_lines.empty()) return;
  std::vector<std::pair<std::string, TrafficCounts>> lines(of_lines.begin(), of_lines.end());
  std::ranges::stable_sort(lines, std::ranges::greater{},
                           [](const auto& line) { return line.second.cost(); });
  if (lines.size() > kMostLines) lines.resize(kMostLines);
  launch_.observer.add_note(
      "sectors of global memory that warps touch, those that would be enough, and extra "
      "passes of shared memory:");
  launch_.observer.add_note(row_of("sectors", "enough", "passes", "line"));
  for (const auto& [line, counts] : lines)
    launch_.observer.add_note(row_of(std::to_string(counts.sectors), std::to_string(counts.enough_sectors),
                                     std::to_string(counts.extra_passes), line));
}

}  // namespace traffic_tool

std::unique_ptr<Tool> make_traffic_tool(const WatchedLaunch& launch) {
  return std::make_unique<traffic_tool::TrafficTool>(launch);
}

}  // namespace opgate::simulator
