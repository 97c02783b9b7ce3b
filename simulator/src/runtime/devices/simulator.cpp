#include "runtime/devices/simulator.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <mutex>

#include "runtime/devices/devices.h"
#include "runtime/devices/settings.h"
#include "runtime/findings/errors.h"
#include "runtime/findings/report.h"
#include "runtime/launches/scheduled_launches.h"
#include "runtime/memory/host_fault.h"
#include "runtime/streams/lock.h"
#include "runtime/streams/unawaited_work.h"

namespace opgate::simulator {
namespace simulator_life {

// A child process cannot use the devices of its parent. On a device too, every function fails there with this
// error.
void refuse_in_child() {
  renew_simulator_mutex();
  forget_unawaited_work_of_parent();
  errors::set_sticky(cudaErrorInitializationError, "");
}

pid_t process_of_simulator = 0;

// Streams run as late as they may, so that what a program never waits for has not run when it ends. A GPU
// runs it, mostly, and its mistakes are the program's. A person who asks for findings gets these as well.
void run_to_the_end() {
  if (simulator_in_use() != nullptr) stop_unawaited_work();
  if (simulator_in_use() != nullptr) report_what_no_launch_followed();
  if (!has_report_file()) return;  // workers end with what their calls have left
  const std::unique_lock lock(simulator_mutex(), std::try_to_lock);
  if (!lock.owns_lock() || simulator_in_use() == nullptr) return;
  Simulator& ending = simulator();
  std::size_t kernels = 0;
  for (int device = 0; device < settings().devices; ++device) {
    for (const auto& stream : ending.streams.of_device(device)) {
      kernels += static_cast<std::size_t>(std::ranges::count_if(stream->queue, [](const auto& operation) {
        return operation.work.kind == cudaGraphNodeTypeKernel;
      }));
    }
  }
  for (int device = 0; device < settings().devices; ++device) ending.execution.finish_device(device);
  if (kernels != 0)
    report_notice("the program ends without waiting for " + std::to_string(kernels) +
                  (kernels == 1 ? " kernel" : " kernels") + ", which ran at its end");
}

Simulator* make() {
  auto* const made = new Simulator;
  process_of_simulator = getpid();
  std::atexit(&run_to_the_end);
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
      pools(settings().devices),
      fill_of_kernels(settings().fill) {
  watch(settings().tools);
}

void Simulator::watch(const Tools& tools) {
  observer = tools.any() ? std::make_unique<Observer>(tools) : nullptr;
  stream_watch = tools.stream ? std::make_shared<StreamWatch>() : nullptr;
  memory.tell(observer.get(), stream_watch);
  if (observer != nullptr)
    observer->set_host_memory([this](std::uint64_t address) { return !memory.range().holds(address); });
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

Simulator* simulator_in_use() {
  return getpid() == simulator_life::process_of_simulator ? &simulator() : nullptr;
}

}  // namespace opgate::simulator
