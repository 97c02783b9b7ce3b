// What watches launches of kernels. It lives longer than a launch: it knows which memory was written before.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "watch/findings.h"
#include "watch/init/unwritten_loads.h"
#include "watch/init/written_memory.h"
#include "watch/stream/accessed_memory.h"
#include "watch/tools.h"

namespace opgate::simulator {

/// A launch that carries an observer is interpreted, and goes on after a finding.
class Observer {
 public:
  explicit Observer(const Tools& tools) : tools_(tools) {}

  const Tools& tools() const { return tools_; }

  /// To be told by whoever owns the device's memory what else writes it.
  WrittenMemory& memory() { return memory_; }

  Findings& findings() { return findings_; }

  UnwrittenLoads& loads() { return loads_; }

  /// Memory that the host can read at any time. None unless somebody says which.
  void set_host_memory(std::function<bool(std::uint64_t address)> is_host_memory) {
    is_host_memory_ = std::move(is_host_memory);
  }
  bool is_host_memory(std::uint64_t address) const { return is_host_memory_ && is_host_memory_(address); }

  /// Something outside of kernels reads memory, for which values matter. `operation`: "a copy to the host".
  void read(const std::string& operation, std::uint64_t begin, std::size_t bytes) {
    memory_.for_each_carried(begin, bytes, [&](std::uint32_t loads) {
      loads_.use(loads, {.instruction = operation, .location = {}, .stream = 0});
    });
  }

  /// What all tools have found since the last time.
  std::vector<Finding> take_findings() {
    std::vector<Finding> all = loads_.take();
    std::ranges::move(findings_.take(), std::back_inserter(all));
    return all;
  }

  /// Something that a tool says about a launch and that is no finding.
  void add_note(std::string note) { notes_.push_back(std::move(note)); }
  /// Forgets what it gives.
  std::vector<std::string> take_notes() { return std::exchange(notes_, {}); }

  /// For the launch that is running or has run last, where the tool `stream` watches.
  AccessedMemory& accessed() { return accessed_; }

 private:
  Tools tools_;
  WrittenMemory memory_;
  Findings findings_;
  UnwrittenLoads loads_;
  std::function<bool(std::uint64_t)> is_host_memory_;
  AccessedMemory accessed_;
  std::vector<std::string> notes_;
};

}  // namespace opgate::simulator
