#include "simulator/runtime/simulator.h"

#include <pthread.h>

#include "simulator/runtime/devices.h"
#include "simulator/runtime/errors.h"
#include "simulator/runtime/host_fault.h"
#include "simulator/runtime/report.h"
#include "simulator/runtime/settings.h"

namespace opgate::simulator {
namespace simulator_life {

// A child process cannot use the devices of its parent. On a device too, every function fails there with this error.
void refuse_in_child() { errors::set_sticky(cudaErrorInitializationError, ""); }

Simulator* make() {
  auto* const made = new Simulator;
  report_start();
  report_host_faults(made->memory.range());
  pthread_atfork(nullptr, nullptr, &refuse_in_child);
  return made;
}

}  // namespace simulator_life

Simulator::Simulator()
    : memory(settings()),
      binaries(registered_binaries()),
      streams(settings().devices),
      execution(streams, settings().eager),
      pools(settings().devices) {
  watch(settings().tools);
}

void Simulator::watch(const Tools& tools) {
  observer = tools.any() ? std::make_unique<Observer>(tools) : nullptr;
  stream_watch = tools.stream ? std::make_shared<StreamWatch>() : nullptr;
  memory.tell(observer == nullptr ? nullptr : &observer->memory(), stream_watch);
  execution.tell(stream_watch);
}

std::uint64_t Simulator::grid_workspace(int device) {
  std::uint64_t& address = grid_workspaces[device];
  if (address == 0) {
    address = memory.allocate(device, kBytesOfGridWorkspace);
    memory.mark_written(address, kBytesOfGridWorkspace);
  }
  return address;
}

std::shared_ptr<Stream> Simulator::stream(cudaStream_t handle) {
  return streams.resolve(handle, devices::current());
}

Simulator& simulator() {
  static Simulator* const only = simulator_life::make();
  return *only;
}

}  // namespace opgate::simulator
