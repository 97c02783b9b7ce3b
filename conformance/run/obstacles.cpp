#include "run/obstacles.h"

#include <fmt/format.h>

#include "device/device.h"
#include "device/simulator.h"

namespace opgate {
namespace {

// A composite kernel serves the tensors of every device, but was built without the device's compiler.
bool has_kernel_of_its_own(const Calls& calls, c10::DeviceType device) {
  for (Calls::Position call = 0; call < calls.size(); ++call) {
    const Spec& spec = calls.spec(call);
    if (spec.op && spec.op->hasKernelForDispatchKey(kernel_key(device))) return true;
  }
  return false;
}

bool has_kernel(const Spec& spec, c10::DeviceType device) {
  return spec.op && spec.op->hasComputedKernelForDispatchKey(kernel_key(device));
}

// `built_for_it` says whether any operator here has a kernel for the device. Where none has, the libraries were built without
// its compiler, and an operator that lacks one is not to blame.
Obstacle obstacle_of(const Spec& spec, c10::DeviceType device, bool simulated, bool built_for_it) {
  const auto missing = simulated ? missing_simulator() : missing_device(device);
  Obstacle obstacle{missing.value_or(""), spec.op && (device == c10::kCPU || built_for_it)};
  if (device == c10::kCPU || !spec.op || spec.kernels_in_python || has_kernel(spec, device)) return obstacle;
  if (!obstacle.reason.empty()) return obstacle;  // a missing device is the first thing to be told
  const std::string title = device_title(device);
  obstacle.reason =
      built_for_it
          ? fmt::format("{} has no {} kernel; see registration.kernels", spec.id, title)
          : fmt::format("no operator of the loaded libraries has a {} kernel (were they built without {}?)",
                        title, accelerator(device).compiler());
  return obstacle;
}

}  // namespace

Obstacles::Obstacles(const Calls& calls) : calls_(calls) {
  for (const Accelerator* const each : accelerators()) {
    if (has_kernel_of_its_own(calls, each->type())) built_for_.insert(each->type());
  }
}

const Obstacle& Obstacles::of(Calls::Position call) {
  const auto [known, is_new] = known_.try_emplace({&calls_.spec(call), calls_.device_name(call)});
  if (is_new) {
    const c10::DeviceType device = calls_.device(call);
    known->second =
        obstacle_of(calls_.spec(call), device, calls_.simulated(call), built_for_.contains(device));
  }
  return known->second;
}

}  // namespace opgate
