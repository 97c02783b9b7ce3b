// The devices that OpGate knows, and the simulated one, in a Python process.
#include <pybind11/stl.h>

#include <map>
#include <optional>
#include <string>
#include <tuple>

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

std::optional<std::tuple<std::string, bool, bool, std::string, std::string>> simulated_failure() {
  const auto failure = take_simulated_failure();
  if (!failure) return std::nullopt;
  return std::tuple{failure->what, failure->device_failed, failure->unsupported, failure->frame(),
                    failure->error};
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
  module.def("simulated_failure", &simulated_failure,
             "What has gone wrong on the simulated device since the last call, whether the device failed, "
             "whether something was asked for that is not simulated, the kernel with its place (\"\" if "
             "there was none), and the error in CUDA's words; None if nothing has. Repairs the device.");
  module.def("unsimulated_library", &unsimulated_library,
             "The library or compiler that is not simulated and that the message of an exception names, or "
             "None.",
             py::arg("message"));
}

}  // namespace opgate
