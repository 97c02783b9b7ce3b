// The tool `sync`: barriers that not all threads reach, masks that name absent threads, and registers of
// `wgmma` products that are used while the products are in flight.
#include <algorithm>
#include <bit>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "machine/barrier.h"
#include "machine/block.h"
#include "machine/faults.h"
#include "watch/sync/product_registers.h"
#include "watch/tool.h"
#include "watch/watched_launch.h"

namespace opgate::simulator {
namespace sync_tool {

// The number of the instruction at which the thread waits.
std::uint32_t number_at(const Thread& thread) {
  const Function& function = thread.function();
  return function.first_number + static_cast<std::uint32_t>(&thread.current() - function.code.data());
}

std::string in_number(std::int64_t count, const std::string& what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

class SyncOfBlock final : public BlockTool {
 public:
  explicit SyncOfBlock(const WatchedLaunch& launch) : launch_(launch), registers_(launch) {}

  void begin(const Extent& /*index*/, std::size_t /*shared_bytes*/) override { registers_.clear(); }
  void meet(const Barrier& barrier, unsigned id, const std::vector<Thread>& threads) override;
  void meet_in_warp(std::span<Thread* const> lanes, std::uint32_t here, std::uint32_t named) override;

  void issue_product(const Thread& thread, const Instruction& instruction, std::uint64_t group) override {
    registers_.issue_product(thread, instruction, group);
  }
  void fence_registers(const Thread& thread) override { registers_.fence(thread); }
  void wait_for_products(const Thread& thread, std::uint64_t first_left) override {
    registers_.wait(thread, first_left);
  }
  void use_registers(const Thread& thread, const Instruction& instruction) override {
    registers_.use(thread, instruction);
  }

 private:
  void report(const Thread& thread, const Thread* other, const std::string& message) const;

  const WatchedLaunch& launch_;
  ProductRegisters registers_;
};

void SyncOfBlock::report(const Thread& thread, const Thread* other, const std::string& message) const {
  const std::uint32_t other_site = other == nullptr ? 0 : number_at(*other);
  const std::uint32_t site = number_at(thread);
  if (!launch_.is_new(Finding::Kind::sync, site, other_site)) return;
  Finding finding;
  finding.kind = Finding::Kind::sync;
  finding.message = *thread.current().text + message;
  finding.place = launch_.place_of(thread, site);
  if (other != nullptr) finding.other = launch_.place_of(*other, other_site);
  launch_.add(std::move(finding));
}

void SyncOfBlock::meet(const Barrier& barrier, unsigned /*id*/, const std::vector<Thread>& threads) {
  std::vector<const Thread*> first_of_warp((threads.size() + kWarpSize - 1) / kWarpSize, nullptr);
  std::vector<unsigned> arrived(first_of_warp.size(), 0);
  for (const Arrival& arrival : barrier.arrivals()) {
    const Thread& thread = *arrival.thread;
    const std::size_t warp = thread.linear / kWarpSize;
    ++arrived[warp];
    if (!arrival.waits || !thread.current().annotation->is_aligned) continue;
    const Thread*& first = first_of_warp[warp];
    if (first == nullptr) first = &thread;
    if (&first->current() != &thread.current()) {
      report(thread, first,
             " is reached by some threads of a warp while others wait for the same barrier at another "
             "place: a warp must come to a barrier as a whole");
    }
  }
  for (std::size_t warp = 0; warp < first_of_warp.size(); ++warp) {
    if (first_of_warp[warp] == nullptr) continue;
    const std::size_t begin = warp * kWarpSize;
    const std::size_t end = std::min(threads.size(), begin + kWarpSize);
    const auto alive =
        static_cast<unsigned>(std::count_if(threads.begin() + static_cast<std::ptrdiff_t>(begin),
                                            threads.begin() + static_cast<std::ptrdiff_t>(end),
                                            [](const Thread& thread) { return !thread.has_exited(); }));
    if (arrived[warp] < alive) {
      report(*first_of_warp[warp], nullptr,
             " is reached by " + std::to_string(arrived[warp]) + " of " + in_number(alive, "thread") +
                 " of a warp: a warp must come to a barrier as a whole");
    }
  }
  const auto exited = std::ranges::count_if(threads, &Thread::has_exited);
  if (exited == 0 || barrier.expected()) return;
  for (const Arrival& arrival : barrier.arrivals()) {
    if (!arrival.waits) continue;
    report(*arrival.thread, nullptr,
           " is for all threads of the block, of which " + in_number(exited, "thread") +
               (exited == 1 ? " has" : " have") + " exited");
    return;
  }
}

void SyncOfBlock::meet_in_warp(std::span<Thread* const> lanes, std::uint32_t here, std::uint32_t named) {
  std::uint32_t exited = 0;
  for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
    if (lanes[lane]->has_exited()) exited |= std::uint32_t{1} << lane;
  }
  const std::uint32_t present = lanes.size() == 32 ? ~0u : (1u << lanes.size()) - 1;
  const int absent = std::popcount(named & ~present);
  const int gone = std::popcount(named & exited);
  if (absent + gone == 0) return;
  const Thread& thread = *lanes[static_cast<std::size_t>(std::countr_zero(here))];
  const std::uint32_t site = number_at(thread);
  // A block that is smaller than its warps is one mistake, which each shuffle of the kernel shows.
  const std::uint32_t shown_at = gone == 0 ? Findings::kEverySite : site;
  if (!launch_.is_new(Finding::Kind::sync, shown_at)) return;
  std::string which;
  if (gone != 0) which = in_number(gone, "lane") + " whose thread has exited";
  if (absent != 0)
    which += (gone != 0 ? " and " : "") + in_number(absent, "lane") + " that the block does not have";
  Finding finding;
  finding.kind = Finding::Kind::sync;
  finding.message = *thread.current().text + " with the mask " + hexadecimal(named) + " names " + which;
  finding.place = launch_.place_of(thread, site);
  launch_.add(std::move(finding));
}

class SyncTool final : public Tool {
 public:
  explicit SyncTool(const WatchedLaunch& launch) : launch_(launch) {}

  std::unique_ptr<BlockTool> watch_block(BlockWatch& /*block*/) override {
    return std::make_unique<SyncOfBlock>(launch_);
  }

 private:
  const WatchedLaunch& launch_;
};

}  // namespace sync_tool

std::unique_ptr<Tool> make_sync_tool(const WatchedLaunch& launch) {
  return std::make_unique<sync_tool::SyncTool>(launch);
}

}  // namespace opgate::simulator
