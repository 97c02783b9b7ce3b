#include "device/device.h"

#include <ATen/Context.h>
#include <ATen/autocast_mode.h>
#include <c10/core/Layout.h>
#include <c10/core/ScalarType.h>
#include <c10/core/TensorOptions.h>
#include <c10/core/impl/VirtualGuardImpl.h>

namespace opgate {

std::optional<std::string> missing_device(c10::DeviceType device) {
  if (device == c10::kCPU) return std::nullopt;
  return accelerator(device).missing();
}

std::string device_model(c10::DeviceType device) {
  return device == c10::kCPU ? "" : accelerator(device).model();
}

void synchronize(c10::DeviceType device) {
  if (device == c10::kCPU || device == c10::kMeta) return;
  const c10::impl::VirtualGuardImpl guard(device);
  const auto& hooks = at::globalContext().getAcceleratorHooksInterface(device);
  for (c10::DeviceIndex i = 0; i < guard.deviceCount(); ++i) {
    if (hooks.hasPrimaryContext(i)) guard.synchronizeDevice(i);  // this process uses no other devices
  }
}

bool is_lost(c10::DeviceType device) {
  try {
    synchronize(device);
    return false;
  } catch (const c10::Error&) {  // a sticky error: every call from now on repeats it
    return true;
  }
}

void enable_device(c10::DeviceType device, DeviceAllocator allocator) {
  if (device != c10::kCPU) accelerator(device).enable(allocator);
}

c10::DispatchKey kernel_key(c10::DeviceType device) {
  return c10::computeDispatchKey(c10::kFloat, c10::kStrided, c10::Device(device));
}

c10::DispatchKey autograd_key(c10::DeviceType device) {
  return c10::getAutogradKeyFromBackend(c10::toBackendComponent(kernel_key(device)));
}

std::optional<c10::DispatchKey> autocast_key(c10::DeviceType device) {
  if (!at::autocast::is_autocast_available(device)) return std::nullopt;
  return at::autocast::get_autocast_dispatch_key_from_device_type(device);
}

std::string device_title(c10::DeviceType device) { return c10::toString(kernel_key(device)); }

}  // namespace opgate
