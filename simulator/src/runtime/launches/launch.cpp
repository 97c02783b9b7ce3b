#include "runtime/launches/launch.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <iterator>
#include <limits>
#include <span>
#include <string>
#include <utility>

#include "machine/faults.h"
#include "runtime/code/architecture.h"
#include "runtime/devices/devices.h"
#include "runtime/devices/settings.h"
#include "runtime/devices/simulator.h"
#include "runtime/findings/errors.h"
#include "runtime/findings/report.h"
#include "runtime/findings/tool_findings.h"
#include "runtime/launches/occupancy.h"
#include "runtime/launches/scheduled_launches.h"
#include "watch/race/launches_in_flight.h"

namespace opgate::simulator {
namespace launching {

Extent extent(const dim3& size) { return {size.x, size.y, size.z}; }

std::string text(const dim3& size) { return in_short(extent(size)); }

std::size_t threads_of(const dim3& block) { return std::size_t{block.x} * block.y * block.z; }

cudaError_t error_of(Fault fault) {
  switch (fault) {
    case Fault::none:
      return cudaSuccess;
    case Fault::illegal_address:
      return cudaErrorIllegalAddress;
    case Fault::misaligned_address:
      return cudaErrorMisalignedAddress;
    case Fault::assertion:
      return cudaErrorAssert;
    case Fault::illegal_instruction:
      return cudaErrorIllegalInstruction;
    case Fault::trap:
      return cudaErrorLaunchFailure;
    case Fault::barrier:  // a device hangs, until a watchdog ends the kernel
    case Fault::timeout:
      return cudaErrorLaunchTimeout;
    case Fault::unsupported:
      return cudaErrorNotSupported;
  }
  return cudaErrorUnknown;
}

void check_extents(const dim3& grid, const dim3& block) {
  const bool valid =
      grid.x > 0 && grid.y > 0 && grid.z > 0 && threads_of(block) > 0 && grid.x <= kBlocksOfGridInX &&
      grid.y <= kBlocksOfGridInYOrZ && grid.z <= kBlocksOfGridInYOrZ && block.x <= kThreadsOfBlock &&
      block.y <= kThreadsOfBlock && block.z <= kThreadsOfBlockInZ && threads_of(block) <= kThreadsOfBlock;
  if (!valid) refuse(cudaErrorInvalidValue);  // as CUDA 13 has it
}

void check_shared(const Kernel& kernel, const Signature& signature, std::size_t dynamic_shared, int device) {
  const auto opted = kernel.dynamic_shared.find(device);
  const bool allowed = opted != kernel.dynamic_shared.end() && dynamic_shared <= opted->second;
  if (!allowed && signature.static_shared_bytes + dynamic_shared > kSharedByDefault)
    refuse(cudaErrorInvalidValue);
}

// What the tools have found in the launch, with the arguments whose memory is meant.
std::vector<Finding> findings_of(Observer& observer, const KernelMemory& memory) {
  const auto add_argument = [&](Finding& finding) {
    if (finding.space != "global") return;
    if (const std::string place = memory.place_of(finding.address); !place.empty())
      finding.message += ": " + place;
  };
  // Loads may become findings after the launch.
  observer.loads().for_each_of_launch(add_argument);
  std::vector<Finding> findings = observer.findings().take();
  std::ranges::for_each(findings, add_argument);
  std::ranges::move(observer.loads().take(), std::back_inserter(findings));
  return findings;
}

void run(Simulator& simulator, Kernel& kernel, Launch launch, int device) {
  const LaunchArguments arguments(signature_of(kernel, device, simulator.memory), launch.parameters,
                                  kernel.parameter_names);
  KernelMemory memory(simulator.memory, device, arguments);
  if (launch.observer != nullptr) {
    std::shared_ptr<LaunchesInFlight>& in_flight = simulator.execution.running().launches;
    if (in_flight == nullptr) in_flight = std::make_shared<LaunchesInFlight>();
    launch.in_flight = in_flight.get();
  }
  if (launch.grid_workspace != 0)
    std::memset(simulator.memory.range().alias(launch.grid_workspace), 0, kBytesOfGridWorkspace);
  launch.host_may_write = simulator.execution.is_unawaited();
  Outcome outcome = kernel.binary->on(device, simulator.memory).run(launch, memory);
  if (outcome.fault == Fault::timeout && launch.instruction_limit == 0 &&
      simulator.execution.has_other_work()) {
    outcome.fault = Fault::unsupported;
    outcome.message =
        "a kernel that waits for the work of another stream, which begins only when this one has ended";
  }
  if (launch.observer != nullptr) {
    std::vector<Finding> findings = findings_of(*launch.observer, memory);
    for (Finding& finding : findings) finding.schedule = schedule_of(launch, outcome, finding);
    tool_findings::keep(std::move(findings));
    report_notes(readable_name(kernel.name), launch.observer->take_notes());
    if (simulator.stream_watch != nullptr)
      simulator.stream_watch->accesses(readable_name(kernel.name), launch.observer->accessed().take());
  }
  report_progress("ran " + readable_name(kernel.name) + ": " + std::to_string(outcome.instructions) +
                  " instructions" +
                  (outcome.threads == 1 ? "" : " on " + std::to_string(outcome.threads) + " threads"));
  if (outcome.fault == Fault::none) return;
  if (simulator.stream_watch != nullptr) simulator.stream_watch->context_ends();
  Finding fault{.kind = Finding::Kind::unsupported,
                .kernel = readable_name(kernel.name),
                .message = outcome.message,
                .place = {.instruction = {}, .location = outcome.location}};
  if (outcome.fault != Fault::unsupported) {
    fault.kind = Finding::Kind::memory;
    fault.message +=
        " (block " + in_short(outcome.block_index) + ", thread " + in_short(outcome.thread_index) + ")";
  }
  errors::set_sticky(error_of(outcome.fault), std::move(fault));
}

// Kernels that torch has as machine code only, and that do nothing but pass time: the queue of a simulated
// stream waits in any case until it is waited for.
bool only_passes_time(const std::string& kernel) { return kernel.find("spin_kernel") != std::string::npos; }

}  // namespace launching

std::string text_of(const Kernel& kernel, const LaunchRequest& request) {
  std::string text = "kernel " + readable_name(kernel.name) + " in " + launching::text(request.grid) +
                     " blocks of " + launching::text(request.block) + " threads";
  if (request.dynamic_shared != 0)
    text += " with " + std::to_string(request.dynamic_shared) + " bytes of dynamic shared memory";
  return text;
}

const Signature& signature_of(Kernel& kernel, int device, MemoryMap& memory) {
  const Signature* found = nullptr;
  try {
    found = kernel.binary->on(device, memory).find(kernel.name);
  } catch (const Refusal&) {
    throw;
  } catch (const std::exception& error) {
    refuse(cudaErrorNotSupported,
           "kernel " + readable_name(kernel.name) + " cannot be simulated: " + error.what());
  }
  if (found == nullptr) refuse(cudaErrorInvalidDeviceFunction);
  return *found;
}

Extent cluster_of(const Kernel& kernel, const Signature& signature, const LaunchRequest& request,
                  std::size_t most_blocks) {
  const std::optional<Extent>& required = signature.required_cluster;
  const Extent cluster = request.cluster ? launching::extent(*request.cluster) : required.value_or(Extent{});
  const std::size_t blocks = std::size_t{cluster.x} * cluster.y * cluster.z;
  const bool is_required =
      !required || (required->x == cluster.x && required->y == cluster.y && required->z == cluster.z);
  if (!is_required || blocks == 0 ||
      blocks > (kernel.allows_large_clusters ? most_blocks : kPortableCluster) ||
      request.grid.x % cluster.x != 0 || request.grid.y % cluster.y != 0 || request.grid.z % cluster.z != 0)
    refuse(cudaErrorInvalidClusterSize);
  return cluster;
}

void read_launch_attributes(const cudaLaunchConfig_t& config, LaunchRequest& request) {
  for (const auto& attribute : std::span(config.attrs, config.numAttrs)) {
    switch (attribute.id) {
      case cudaLaunchAttributeIgnore:
      case cudaLaunchAttributePriority:
      case cudaLaunchAttributePreferredSharedMemoryCarveout:
        break;
      case cudaLaunchAttributeProgrammaticStreamSerialization:
        request.begins_early = attribute.val.programmaticStreamSerializationAllowed != 0;
        break;
      case cudaLaunchAttributeCooperative:
        request.cooperative = attribute.val.cooperative != 0;
        break;
      case cudaLaunchAttributeClusterDimension:
        request.cluster =
            dim3(attribute.val.clusterDim.x, attribute.val.clusterDim.y, attribute.val.clusterDim.z);
        break;
      default:
        refuse(cudaErrorNotSupported, "a launch with the attribute " + std::to_string(attribute.id) +
                                          " of cudaLaunchAttributeID, which is not simulated");
    }
  }
}

void launch_kernel(Simulator& simulator, const std::shared_ptr<Kernel>& kernel, const LaunchRequest& request,
                   Stream& stream) {
  const int device = devices::current();
  if (stream.device != device) refuse(cudaErrorInvalidResourceHandle);
  launching::check_extents(request.grid, request.block);
  if (launching::only_passes_time(kernel->name)) {
    simulator.execution.issue(stream, {[&simulator] { simulator.execution.running().launches = nullptr; },
                                       cudaGraphNodeTypeKernel});
    return;
  }
  const Signature& signature = signature_of(*kernel, device, simulator.memory);
  const std::size_t threads = launching::threads_of(request.block);
  if (threads > signature.max_threads) refuse(cudaErrorInvalidValue);
  launching::check_shared(*kernel, signature, request.dynamic_shared, device);
  const std::size_t resident =
      std::size_t{resident_blocks(signature, static_cast<unsigned>(threads), request.dynamic_shared)} *
      architecture().multiprocessors;
  if (request.cooperative && std::size_t{request.grid.x} * request.grid.y > resident / request.grid.z)
    refuse(cudaErrorCooperativeLaunchTooLarge);
  if (simulator.launches_to_refusal > 0 && --simulator.launches_to_refusal == 0) {
    simulator.refused_launch = readable_name(kernel->name);
    refuse(cudaErrorLaunchOutOfResources);
  }
  Launch launch;
  launch.most_resident = std::max<std::size_t>(resident, 1);
  if (request.cooperative) launch.grid_workspace = simulator.grid_workspace(device);
  launch.kernel = kernel->name;
  launch.grid = launching::extent(request.grid);
  launch.block = launching::extent(request.block);
  launch.cluster = cluster_of(*kernel, signature, request);
  launch.has_clusters = request.cluster || signature.required_cluster;
  launch.dynamic_shared_bytes = request.dynamic_shared;
  launch.instruction_limit = settings().instruction_limit;
  launch.fill = simulator.fill_of_kernels;
  launch.observer = simulator.observer.get();
  // What the host has waited for has ended.
  launch.begins_early = request.begins_early && (stream.capture != nullptr || stream.awaited < stream.issued);
  launch.order_seed = settings().shuffle;
  launch.late_stores_seed = settings().late_stores;
  launch.number = ++simulator.launches;
  if (!settings().schedule.empty()) follow_schedule(launch);
  launch.parameters.resize(signature.parameter_bytes);
  for (std::size_t i = 0; i < signature.parameters.size(); ++i) {
    const Parameter& parameter = signature.parameters[i];
    std::memcpy(launch.parameters.data() + parameter.offset, request.arguments[i], parameter.bytes);
  }
  report_progress("launch " + readable_name(kernel->name) + "<<<(" + launching::text(request.grid) + "), (" +
                  launching::text(request.block) + "), " + std::to_string(request.dynamic_shared) +
                  ">>> in stream " + std::to_string(stream.id));
  simulator.execution.issue(stream, {[&simulator, kernel, launch = std::move(launch), device] {
                                       launching::run(simulator, *kernel, launch, device);
                                     },
                                     cudaGraphNodeTypeKernel});
}

void launch_named(Simulator& simulator, const std::shared_ptr<Kernel>& kernel, const LaunchRequest& request,
                  Stream& stream) {
  try {
    launch_kernel(simulator, kernel, request, stream);
  } catch (Refusal& refusal) {
    refusal.set_subject(text_of(*kernel, request));
    throw;
  }
}

}  // namespace opgate::simulator
