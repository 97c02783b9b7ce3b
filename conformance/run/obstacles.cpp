#include "run/obstacles.h"

#include <fmt/format.h>

#include <algorithm>

#include "device/device.h"
#include "device/simulator.h"
#include "judging/verdict.h"
#include "spec/spec.h"

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

// `built_for_it` says whether any operator here has a kernel for the device. If none has, the libraries were
// built without its compiler, and an operator that lacks one is not to blame.
std::optional<Obstacle> obstacle_on(c10::DeviceType device, bool simulated, const Spec& spec,
                                    bool built_for_it) {
  using enum Obstacle::Kind;
  const bool kernels_are_known = spec.op && (device == c10::kCPU || built_for_it);
  if (auto missing = simulated ? missing_simulator() : missing_device(device))
    return Obstacle{no_device, *std::move(missing), kernels_are_known};
  if (device == c10::kCPU || !spec.op || spec.kernels_in_python || spec.replaces_kernel() ||
      has_kernel(spec, device))
    return std::nullopt;
  const std::string title = device_title(device);
  if (built_for_it) {
    return Obstacle{no_kernel, fmt::format("{} has no {} kernel; see registration.kernels", spec.id, title),
                    kernels_are_known};
  }
  return Obstacle{
      no_kernel,
      fmt::format("no operator of the loaded libraries has a {} kernel (were they built without {}?)", title,
                  accelerator(device).compiler()),
      kernels_are_known};
}

}  // namespace

Obstacles::Obstacles(const Calls& calls) : calls_(calls), simulated_(calls.simulated_twins()) {
  for (const Accelerator* const each : accelerators()) {
    if (has_kernel_of_its_own(calls, each->type())) built_for_.insert(each->type());
  }
}

const std::optional<Obstacle>& Obstacles::on_device(Calls::Position call) {
  if (last_ == call) return *on_last_;
  const auto [known, is_new] = on_device_.try_emplace({&calls_.spec(call), calls_.device_name(call)});
  if (is_new) {
    const c10::DeviceType device = calls_.device(call);
    known->second =
        obstacle_on(device, calls_.simulated(call), calls_.spec(call), built_for_.contains(device));
  }
  last_ = call;
  on_last_ = &known->second;
  return known->second;
}

std::optional<Obstacle> Obstacles::to(Calls::Position call, const Check& check) {
  return obstacle_to(calls_.spec(call), check, {.on_device = on_device(call)});
}

Judgement Obstacles::owed(Calls::Position call, const Check& check, std::string reason) const {
  const auto twin = simulated_.find(call);
  const bool asked_on_simulator =
      twin != simulated_.end() && std::ranges::count(calls_.checks(twin->second), &check) > 0;
  return Judgement::owed(std::move(reason), asked_on_simulator);
}

}  // namespace opgate
