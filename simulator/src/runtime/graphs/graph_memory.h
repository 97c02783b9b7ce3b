// Memory that nodes of graphs give out and take back. It has the same addresses in each launch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "runtime/streams/stream.h"

namespace opgate::simulator {

struct Simulator;

/// Lives as long as some node, or some program of a graph, may give the memory out.
class GraphMemory {
 public:
  /// Refuses with cudaErrorMemoryAllocation.
  GraphMemory(Simulator& simulator, int device, std::size_t bytes);
  ~GraphMemory();
  GraphMemory(const GraphMemory&) = delete;
  GraphMemory& operator=(const GraphMemory&) = delete;

  std::uint64_t address() const { return address_; }

  /// A node gives it out. Fails the device if the memory is still in use.
  void begin();

  /// The graph is launched again, and was instantiated with cudaGraphInstantiateFlagAutoFreeOnLaunch.
  void end_if_in_use();

 private:
  Simulator& simulator_;
  int device_;
  std::size_t bytes_;
  std::uint64_t address_;
};

/// Issues a node that gives memory out to a stream that captures. The address of the memory.
std::uint64_t issue_graph_allocation(Simulator& simulator, int device, std::size_t bytes, Stream& stream);

}  // namespace opgate::simulator
