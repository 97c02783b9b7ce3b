// The launch that tools watch, and where they put what they find.
#pragma once

#include <cstdint>
#include <utility>

#include "machine/block.h"
#include "machine/launches/launch.h"
#include "machine/thread.h"
#include "watch/observer.h"
#include "watch/places.h"

namespace opgate::simulator {

struct WatchedLaunch {
  const Program& program;  ///< with its annotations
  const Launch& launch;
  Observer& observer;

  const Instruction& instruction_at(std::uint32_t site) const {
    return opgate::simulator::instruction_at(program, site);
  }

  FindingPlace place_of(const Thread& thread, std::uint32_t site) const {
    const Instruction& instruction = instruction_at(site);
    return {*instruction.text, location_in(program, instruction), thread.block->index(), thread.index};
  }

  /// Whether a finding is new, so that it must be described with `add`. See `Findings`.
  bool is_new(Finding::Kind kind, std::uint32_t site, std::uint32_t other_site = 0) const {
    return observer.findings().is_new(kind, launch.kernel, site, other_site);
  }

  void add(Finding finding) const {
    finding.kernel = launch.kernel;
    observer.findings().add(std::move(finding));
  }

  /// The linear index of the cluster of a block, by the index of the block in the grid.
  std::uint64_t cluster_of(const Extent& index) const {
    const Extent& extent = launch.cluster;
    const Extent clusters{launch.grid.x / extent.x, launch.grid.y / extent.y, launch.grid.z / extent.z};
    return linear_index({index.x / extent.x, index.y / extent.y, index.z / extent.z}, clusters);
  }
};

}  // namespace opgate::simulator
