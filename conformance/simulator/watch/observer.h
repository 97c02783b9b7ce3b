// What watches launches of kernels. It lives longer than a launch: it knows which memory was written before.
#pragma once

#include "simulator/watch/accessed_memory.h"
#include "simulator/watch/findings.h"
#include "simulator/watch/tools.h"
#include "simulator/watch/written_memory.h"

namespace opgate::simulator {

/// A launch that carries an observer is interpreted, and goes on after a finding.
class Observer {
 public:
  explicit Observer(const Tools& tools) : tools_(tools) {}

  const Tools& tools() const { return tools_; }

  /// To be told by whoever owns the device's memory what else writes it.
  WrittenMemory& memory() { return memory_; }

  Findings& findings() { return findings_; }

  /// Of the launch that is running or has run last, where the tool `stream` watches.
  AccessedMemory& accessed() { return accessed_; }

 private:
  Tools tools_;
  WrittenMemory memory_;
  Findings findings_;
  AccessedMemory accessed_;
};

}  // namespace opgate::simulator
