#include "driver/modules.h"

#include <exception>
#include <fstream>
#include <iterator>
#include <set>

#include "runtime/code/architecture.h"
#include "runtime/code/device_code.h"
#include "runtime/devices/devices.h"
#include "runtime/findings/errors.h"

namespace opgate::simulator {
namespace modules {

// Those of libraries are not among them.
std::set<DeviceBinary*>& loaded() {
  static auto* const all = new std::set<DeviceBinary*>;
  return *all;
}

DeviceBinary* demand(void* handle) {
  const auto found = loaded().find(static_cast<DeviceBinary*>(handle));
  if (found == loaded().end()) refuse(cudaErrorInvalidResourceHandle);
  return *found;
}

}  // namespace modules

DeviceBinary* load_module(Simulator& simulator, const void* image, const std::string& name) {
  DeviceCode code;
  try {
    code = read_device_code(static_cast<const unsigned char*>(image), architecture().capability, true);
  } catch (const std::exception& error) {
    refuse(cudaErrorInvalidKernelImage, name + ": " + error.what());
  }
  DeviceBinary* const binary = simulator.binaries.add(std::move(code), name);
  try {
    binary->on(devices::current(), simulator.memory);
  } catch (const Refusal&) {
    simulator.binaries.remove(binary);
    throw;
  }
  modules::loaded().insert(binary);
  return binary;
}

DeviceBinary* load_module_file(Simulator& simulator, const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) refuse(cudaErrorFileNotFound);
  const std::string image(std::istreambuf_iterator<char>(stream), {});
  return load_module(simulator, image.c_str(), file);
}

void unload_module(Simulator& simulator, void* handle) {
  DeviceBinary* const binary = modules::demand(handle);
  modules::loaded().erase(binary);
  simulator.binaries.remove(binary);
}

std::shared_ptr<Kernel> kernel_of_module(Simulator& simulator, void* handle, const std::string& name) {
  return simulator.binaries.kernel_of(modules::demand(handle), name, devices::current(), simulator.memory);
}

std::pair<std::uint64_t, std::size_t> variable_of_module(Simulator& simulator, void* handle,
                                                         const std::string& name) {
  return modules::demand(handle)->variable(name, devices::current(), simulator.memory);
}

}  // namespace opgate::simulator
