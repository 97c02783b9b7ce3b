#include "watch/race/launches_in_flight.h"

#include <algorithm>
#include <utility>

#include "ptx/program.h"
#include "watch/places.h"

namespace opgate::simulator {
namespace {

// Numbers of blocks begin anew at the next launch that does not begin early, or behind this one.
constexpr std::uint32_t kLastNumber = std::uint32_t{1} << 31;

}  // namespace

void LaunchesInFlight::begin(const Program& program, const Launch& launch) {
  std::uint32_t first = 1;
  if (!launches_.empty())
    first = launches_.back().first + static_cast<std::uint32_t>(launches_.back().blocks.size());
  if (!launch.begins_early || first > kLastNumber) {
    *this = {};
    first = 1;
  }
  // The launch begins after all launches before one whose blocks have waited before they let it begin.
  std::size_t unsettled = launches_.size();
  while (unsettled > 0 && (unsettled == launches_.size() || !launches_[unsettled].waits_first)) --unsettled;
  launches_.erase(launches_.begin(), launches_.begin() + static_cast<std::ptrdiff_t>(unsettled));
  // Behind a wait, the launch before has ended, and with it those that it has waited for.
  std::uint32_t first_awaited = first;
  for (auto before = launches_.rbegin(); before != launches_.rend(); ++before) {
    first_awaited = before->first;
    if (!before->waits) break;
  }
  if (!launches_.empty()) {
    for (const ByteRange& range : std::exchange(launches_.back().written, {}))
      races_.note_written(range.begin, range.bytes, launches_.back().first);
  }
  awaited_ = std::make_shared<const ReleaseLog>(first_awaited, first);
  races_.begin(first, launches_.empty() ? 0 : launches_.front().first - 1,
               static_cast<unsigned>(launch.cluster.count()));
  launches_.push_back({first, &program, launch.kernel, launch.grid, launch.block, {}});
}

void LaunchesInFlight::end() {
  Watched& launch = launches_.back();
  for (const auto& function : launch.program->functions) {
    launch.sites.resize(function->first_number + function->code.size());
    for (std::size_t at = 0; at < function->code.size(); ++at) {
      const Instruction& instruction = function->code[at];
      if (instruction.annotation != nullptr)
        launch.sites[function->first_number + at] = {*instruction.text,
                                                     location_in(*launch.program, instruction)};
    }
  }
  launch.program = nullptr;
}

void LaunchesInFlight::add_operation(const std::string& name, const std::vector<ByteRange>& written) {
  *this = {};
  Watched operation;
  operation.blocks.resize(1);
  operation.sites = {{}, {name, ""}};
  operation.written = written;
  launches_.push_back(std::move(operation));
}

std::uint32_t LaunchesInFlight::begin_block(const Extent& index) {
  Watched& launch = launches_.back();
  launch.blocks.push_back({linear_index(index, launch.grid)});
  return launch.first + static_cast<std::uint32_t>(launch.blocks.size()) - 1;
}

void LaunchesInFlight::wait(std::uint32_t block) {
  Watched& launch = launches_.back();
  launch.waits = true;
  if (!launch.blocks[block - launch.first].has_triggered) launch.waits_first = true;
}

void LaunchesInFlight::trigger(std::uint32_t block) {
  Watched& launch = launches_.back();
  launch.blocks[block - launch.first].has_triggered = true;
}

const LaunchesInFlight::Watched& LaunchesInFlight::launch_of(std::uint32_t block) const {
  return *std::find_if(launches_.rbegin(), launches_.rend() - 1,
                       [block](const Watched& launch) { return launch.first <= block; });
}

std::uint32_t LaunchesInFlight::launches_ago(const AccessRecord& access) const {
  return static_cast<std::uint32_t>(
      std::count_if(launches_.begin(), launches_.end(),
                    [&](const Watched& launch) { return launch.first > access.block; }));
}

bool LaunchesInFlight::had_ended(const AccessRecord& access) const {
  const Watched& launch = launch_of(access.block);
  return is_before(access) && !launch.blocks[access.block - launch.first].has_triggered;
}

std::uint64_t LaunchesInFlight::index_of_block(std::uint32_t block) const {
  const Watched& launch = launch_of(block);
  return launch.blocks[block - launch.first].index;
}

FindingPlace LaunchesInFlight::place_of(const AccessRecord& access) const {
  const Watched& launch = launch_of(access.block);
  Site site;
  if (launch.program == nullptr) {
    site = launch.sites[access.site()];
  } else {
    const Instruction& instruction = instruction_at(*launch.program, access.site());
    site = {*instruction.text, location_in(*launch.program, instruction)};
  }
  return {.instruction = site.instruction,
          .location = site.location,
          .block = index_at(index_of_block(access.block), launch.grid),
          .thread = index_at(access.thread(), launch.block),
          .kernel = is_before(access) ? launch.kernel : ""};
}

}  // namespace opgate::simulator
