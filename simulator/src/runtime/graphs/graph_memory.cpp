#include "runtime/graphs/graph_memory.h"

#include <string>
#include <utility>

#include "runtime/devices/simulator.h"
#include "runtime/findings/errors.h"

namespace opgate::simulator {

GraphMemory::GraphMemory(Simulator& simulator, int device, std::size_t bytes)
    : simulator_(simulator),
      device_(device),
      bytes_(bytes),
      address_(simulator.memory.heap(device).reserve(bytes).value_or(0)) {
  if (address_ == 0) refuse(cudaErrorMemoryAllocation);
}

GraphMemory::~GraphMemory() {
  if (address_ != 0) simulator_.memory.heap(device_).let_go(address_);
}

void GraphMemory::begin() {
  Heap& heap = simulator_.memory.heap(device_);
  const bool is_in_use = heap.find(address_) != nullptr;
  if (!heap.revive(address_)) {
    errors::set_sticky(is_in_use ? cudaErrorInvalidValue : cudaErrorMemoryAllocation,
                       "a graph allocates " + std::to_string(bytes_) + " bytes " +
                           (is_in_use ? "that it has allocated in an earlier launch and that are still in use"
                                      : "that the device does not have any more"));
    return;
  }
  simulator_.memory.note_new(address_, bytes_);
  if (simulator_.stream_watch != nullptr)
    simulator_.stream_watch->writes("cudaMallocAsync", address_, bytes_);
}

void GraphMemory::end_if_in_use() { simulator_.memory.heap(device_).release(address_); }

std::uint64_t issue_graph_allocation(Simulator& simulator, int device, std::size_t bytes, Stream& stream) {
  auto memory = std::make_shared<GraphMemory>(simulator, device, bytes);
  const std::uint64_t address = memory->address();
  GraphMemory* const given = memory.get();
  Work work{[given] { given->begin(); }, cudaGraphNodeTypeMemAlloc};
  work.allocates = std::move(memory);
  simulator.execution.issue(stream, std::move(work));
  return address;
}

}  // namespace opgate::simulator
