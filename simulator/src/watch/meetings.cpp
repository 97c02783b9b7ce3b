// The tool `sync`, and what barriers mean to the tool `race`.
#include <algorithm>
#include <bit>
#include <utility>

#include "machine/barrier.h"
#include "machine/block.h"
#include "machine/faults.h"
#include "watch/launch_watch.h"
#include "watch/places.h"

namespace opgate::simulator {
namespace meetings {

constexpr unsigned kNoBarrier = ~0u;

// The number of the instruction at which the thread waits.
std::uint32_t number_at(const Thread& thread) {
  const Function& function = thread.function();
  return function.first_number + static_cast<std::uint32_t>(&thread.current() - function.code.data());
}

bool is_at_warp_barrier(const Thread& thread) {
  const Annotation* const annotation = thread.current().annotation;
  return annotation != nullptr && annotation->kind == Annotation::Kind::warp_barrier;
}

bool is_alive(const Thread& thread) { return thread.state != Thread::State::exited; }

std::string in_number(std::int64_t count, const std::string& what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

}  // namespace meetings

void LaunchWatch::meet(BlockWatch& block, const Barrier& barrier, unsigned id,
                       const std::vector<Thread>& threads) {
  if (tools_.sync) check_barrier(barrier, threads);
  if (!tools_.race) return;
  std::vector<std::uint32_t> waiting;
  for (const Arrival& arrival : barrier.arrivals()) {
    if (arrival.waits) waiting.push_back(arrival.thread->linear);
  }
  const auto alive = std::count_if(threads.begin(), threads.end(), &meetings::is_alive);
  if (waiting.size() == barrier.arrivals().size() && waiting.size() == static_cast<std::size_t>(alive)) {
    block.races.meet_all();
  } else {
    block.races.clocks.meet(waiting, id);
  }
}

void LaunchWatch::meet_in_warp(BlockWatch& block, std::span<Thread* const> lanes, std::uint32_t here,
                               std::uint32_t named) {
  if (tools_.sync) check_mask(lanes, here, named);
  if (tools_.init) follow_in_warp(block, lanes, here);
  const Thread& first = *lanes[static_cast<std::size_t>(std::countr_zero(here))];
  // Only this one orders memory; shuffles and votes do not.
  if (!tools_.race || !meetings::is_at_warp_barrier(first)) return;
  std::vector<std::uint32_t> threads;
  bool all = true;
  for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
    if ((here >> lane & 1) != 0) {
      threads.push_back(lanes[lane]->linear);
    } else if (meetings::is_alive(*lanes[lane])) {
      all = false;
    }
  }
  if (all) {
    block.races.clocks.meet_in_warp(first.linear / kWarpSize, threads);
  } else {
    block.races.clocks.meet(threads, meetings::kNoBarrier);
  }
}

void LaunchWatch::check_barrier(const Barrier& barrier, const std::vector<Thread>& threads) {
  const auto report = [&](const Thread& thread, const Thread* other, const std::string& message) {
    const std::uint32_t other_site = other == nullptr ? 0 : meetings::number_at(*other);
    const std::uint32_t site = meetings::number_at(thread);
    if (!findings_.is_new(Finding::Kind::sync, launch_.kernel, site, other_site)) return;
    Finding finding;
    finding.kind = Finding::Kind::sync;
    finding.message = *thread.current().text + message;
    finding.place = place_of(thread, site);
    if (other != nullptr) finding.other = place_of(*other, other_site);
    add(std::move(finding));
  };
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
    const auto alive = static_cast<unsigned>(
        std::count_if(threads.begin() + static_cast<std::ptrdiff_t>(begin),
                      threads.begin() + static_cast<std::ptrdiff_t>(end), &meetings::is_alive));
    if (arrived[warp] < alive) {
      report(*first_of_warp[warp], nullptr,
             " is reached by " + std::to_string(arrived[warp]) + " of " +
                 meetings::in_number(alive, "thread") +
                 " of a warp: a warp must come to a barrier as a whole");
    }
  }
  const auto exited = std::count_if(threads.begin(), threads.end(),
                                    [](const Thread& thread) { return !meetings::is_alive(thread); });
  if (exited == 0 || barrier.expected()) return;
  for (const Arrival& arrival : barrier.arrivals()) {
    if (!arrival.waits) continue;
    report(*arrival.thread, nullptr,
           " is for all threads of the block, of which " + meetings::in_number(exited, "thread") +
               (exited == 1 ? " has" : " have") + " exited");
    return;
  }
}

void LaunchWatch::check_mask(std::span<Thread* const> lanes, std::uint32_t here, std::uint32_t named) {
  std::uint32_t exited = 0;
  for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
    if (!meetings::is_alive(*lanes[lane])) exited |= std::uint32_t{1} << lane;
  }
  const std::uint32_t present = lanes.size() == 32 ? ~0u : (1u << lanes.size()) - 1;
  const int absent = std::popcount(named & ~present);
  const int gone = std::popcount(named & exited);
  if (absent + gone == 0) return;
  const Thread& thread = *lanes[static_cast<std::size_t>(std::countr_zero(here))];
  const std::uint32_t site = meetings::number_at(thread);
  // A block that is smaller than its warps is one mistake, which each shuffle of the kernel shows.
  const std::uint32_t shown_at = gone == 0 ? Findings::kEverySite : site;
  if (!findings_.is_new(Finding::Kind::sync, launch_.kernel, shown_at)) return;
  std::string which;
  if (gone != 0) which = meetings::in_number(gone, "lane") + " whose thread has exited";
  if (absent != 0)
    which +=
        (gone != 0 ? " and " : "") + meetings::in_number(absent, "lane") + " that the block does not have";
  Finding finding;
  finding.kind = Finding::Kind::sync;
  finding.message = *thread.current().text + " with the mask " + hexadecimal(named) + " names " + which;
  finding.place = place_of(thread, site);
  add(std::move(finding));
}

}  // namespace opgate::simulator
