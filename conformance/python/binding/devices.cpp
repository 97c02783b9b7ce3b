// The devices that OpGate knows, and the simulated one, in a Python process.
#include <pybind11/stl.h>

#include <map>
#include <string>

#include "call/invoke.h"
#include "device/device.h"
#include "device/simulator.h"
#include "python/binding/parts.h"

namespace opgate {
namespace {

namespace py = pybind11;

std::map<std::string, std::string> device_types_with_keys() {
  std::map<std::string, std::string> keys;
  for (const c10::DeviceType device : device_types())
    keys[c10::DeviceTypeName(device, /*lower_case=*/true)] = device_title(device);
  return keys;
}

// Nothing of the device runs here, because workers are forked from this process.
void enable_simulator() { enable_simulated_device(DeviceAllocator::guarded); }

std::string take_failure() {
  const auto failure = take_simulated_failure();
  return failure && failure->device_failed ? DeviceFailed(*failure).what() : "";
}

bool is_lost_here(const std::string& device) {
  const c10::DeviceType type = c10::Device(device).type();
  return !missing_device(type) && is_lost(type);
}

}  // namespace

void define_devices(py::module_& module) {
  module.def("is_lost", &is_lost_here,
             "Whether a kernel has made the device unusable in this process: every call from now on repeats "
             "its error. False for a device that this machine lacks.",
             py::arg("device"));
  module.def("device_types", &device_types_with_keys,
             "The devices that OpGate knows, and the dispatch key of kernels for each: {'cpu': 'CPU', ...}.");
  module.def(
      "enable_simulator", &enable_simulator,
      "Replaces ATen's CUDA kernels by those of the CPU on the simulated device. Must be called before "
      "the first call. Raises RuntimeError where CUDA is not simulated in this process.");
  module.def(
      "take_failure", &take_failure,
      "How the simulated device has failed since it was asked last, and repairs it: \"\" if it has not. "
      "What one call leaves behind on the device must not become the next call's.");
}

}  // namespace opgate
