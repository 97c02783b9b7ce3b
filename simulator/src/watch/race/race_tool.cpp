#include "watch/race/race_tool.h"

#include <algorithm>
#include <utility>

#include "machine/block.h"
#include "watch/race/race_of_block.h"

namespace opgate::simulator {
namespace race_tool {

// What the program has to do about a race with a launch before this one.
constexpr const char* kBeginsEarly =
    "; a kernel that is launched with programmatic stream serialization may begin before the one before it "
    "has "
    "ended, and needs griddepcontrol.wait (cudaGridDependencySynchronize) first";

// Whether a store leaves the memory as it is, which holds what was stored there before.
bool stores_the_same(Thread& thread, const Instruction& in, const WatchedAccess& access) {
  if (access.annotation->lanes == 0) return false;
  const HeldCopies::Changed change = change_by(thread, in, access.named(), access.space);
  return change.before == change.after;
}

}  // namespace race_tool

std::unique_ptr<Tool> make_race_tool(const WatchedLaunch& launch) {
  return std::make_unique<RaceTool>(launch);
}

RaceTool::RaceTool(const WatchedLaunch& launch)
    : launch_(launch),
      in_flight_(launch.launch.in_flight != nullptr ? *launch.launch.in_flight : only_this_launch_),
      races_(in_flight_.races()) {
  in_flight_.begin(launch.program, launch.launch);
}

std::unique_ptr<BlockTool> RaceTool::watch_block(BlockWatch& /*block*/) {
  return std::make_unique<RaceOfBlock>(*this);
}

std::shared_ptr<ClusterReleases> RaceTool::releases_of_cluster(const Extent& index) {
  if (launch_.launch.cluster.count() == 1) return std::make_shared<ClusterReleases>();
  std::weak_ptr<ClusterReleases>& known = clusters_[launch_.cluster_of(index)];
  std::shared_ptr<ClusterReleases> releases = known.lock();
  if (releases == nullptr) known = releases = std::make_shared<ClusterReleases>();
  return releases;
}

void RaceTool::consider(Thread& thread, const Instruction& instruction, const WatchedAccess& access,
                        const RaceDetector::Race& race) {
  has_met_race_ = true;
  if (launch_.program.threads_hold_copies && may_be_of_copies(thread, access, race)) {
    keep_race_of_copies(thread, access, race);
    return;
  }
  if (race.before_wrote && access.annotation->kind == Annotation::Kind::store &&
      race_tool::stores_the_same(thread, instruction, access))
    return;
  report(thread, access, race);
}

// A small tensor of Triton has fewer elements than its block has threads: several threads load an element,
// and one of them stores what it has become. And threads that store copies of an element to shared memory by
// one instruction store the same but for rounding: where a reduction fuses a product with its first addition,
// lanes round different products.
bool RaceTool::may_be_of_copies(const Thread& thread, const WatchedAccess& access,
                                const RaceDetector::Race& race) const {
  const AccessRecord& before = race.before;
  if (!is_in_block_of(thread, before)) return false;
  const Annotation& now = *access.annotation;
  if (access.space == Space::shared) return now.kind == Annotation::Kind::store && now.site == before.site();
  const Annotation* const other = launch_.instruction_at(before.site()).annotation;
  if (other == nullptr || !now.is_plain() || !other->is_plain()) return false;
  const auto [first, second] = race.before_wrote ? std::pair(Annotation::Kind::store, Annotation::Kind::load)
                                                 : std::pair(Annotation::Kind::load, Annotation::Kind::store);
  // Accesses are aligned, so that those with as many bytes have the same address.
  return other->kind == first && now.kind == second && other->bytes == now.bytes;
}

void RaceTool::keep_race_of_copies(const Thread& thread, const WatchedAccess& access,
                                   const RaceDetector::Race& race) {
  if (access.space == Space::shared) return;
  const HeldCopies::Element element{linear_index(thread.block->index(), launch_.launch.grid), access.address};
  copies_.add_race(access.annotation->site, race.before.site(), element, [&] {
    return finding_of(thread, access, race,
                      "; results depend on whether other threads load this element before or after the "
                      "store: put a barrier (tl.debug_barrier) between the load and the store, or store "
                      "after the last use of what they have loaded");
  });
}

void RaceTool::report(const Thread& thread, const WatchedAccess& access, const RaceDetector::Race& race,
                      const std::string& hint) {
  has_met_race_ = true;
  if (!race.before_wrote && in_flight_.had_ended(race.before)) return;
  const std::uint32_t other_site =
      race.before.site() + in_flight_.launches_ago(race.before) * AccessRecord::kSiteCount;
  // Either of the two may come first.
  const auto [one, another] = std::minmax(access.annotation->site, other_site);
  if (launch_.is_new(Finding::Kind::race, one, another)) launch_.add(finding_of(thread, access, race, hint));
}

Finding RaceTool::finding_of(const Thread& thread, const WatchedAccess& access,
                             const RaceDetector::Race& race, const std::string& hint) const {
  Finding finding;
  finding.kind = Finding::Kind::race;
  finding.other = in_flight_.place_of(race.before);
  const std::string space = name_of(access.space);
  const bool is_before = in_flight_.is_before(race.before);
  finding.place = launch_.place_of(thread, access.annotation->site);
  finding.message = finding.place.instruction + " races with " + finding.other->instruction + " of thread " +
                    in_words(finding.other->thread) +
                    (is_in_block_of(thread, race.before) ? " of the same block"
                                                         : " of block " + in_words(finding.other->block)) +
                    (is_before ? " of a kernel before" : "") + ": both access the same " + space +
                    " memory, one of them writes, and nothing orders them" +
                    (is_before ? race_tool::kBeginsEarly : hint);
  finding.address = access.named();
  finding.bytes = access.annotation->bytes;
  finding.space = space;
  return finding;
}

bool RaceTool::is_in_block_of(const Thread& thread, const AccessRecord& access) const {
  return !in_flight_.is_before(access) &&
         in_flight_.index_of_block(access.block) == linear_index(thread.block->index(), launch_.launch.grid);
}

void RaceTool::repeat(Repetition& again) {
  if (!copies_.races().empty()) {
    repeat_with_copies(again);
  } else if (!has_met_race_ && !again.leaves_the_same_in_another_order()) {
    report_dependence_on_order();
  }
}

// Reports races of copies if results depend on the copies.
void RaceTool::repeat_with_copies(Repetition& again) {
  const Extent& grid = launch_.launch.grid;
  const auto leaves_the_same_with = [&](LaunchObserver&& observer) {
    return again.leaves_the_same_with(observer);
  };
  const bool are_used = !leaves_the_same_with(RecordedCopies(copies_, grid)) || copies_.has_other_writer() ||
                        !leaves_the_same_with(RepeatedWithCopies(copies_, HeldCopies::Value::before, grid)) ||
                        !leaves_the_same_with(RepeatedWithCopies(copies_, HeldCopies::Value::after, grid));
  if (!are_used) return;
  for (const auto& [sites, race] : copies_.races()) {
    if (launch_.is_new(Finding::Kind::race, sites.first, sites.second)) launch_.add(race);
  }
}

void RaceTool::report_dependence_on_order() {
  if (!launch_.is_new(Finding::Kind::race, Findings::kEverySite)) return;
  Finding finding;
  finding.kind = Finding::Kind::race;
  finding.message =
      "what the kernel leaves in memory depends on the order in which its blocks and warps run, although no "
      "two accesses were seen to race";
  launch_.add(std::move(finding));
}

}  // namespace opgate::simulator
