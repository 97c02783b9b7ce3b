// Modules that a program loads while it runs: what Triton, NVRTC and libraries that compile their own kernels
// do.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "runtime/devices/simulator.h"

namespace opgate::simulator {

/// Loads device code for all devices, and refuses code without PTX. `name` is for messages.
DeviceBinary* load_module(Simulator& simulator, const void* image, const std::string& name);
/// The same from a file. Refuses with cudaErrorFileNotFound.
DeviceBinary* load_module_file(Simulator& simulator, const std::string& file);

/// Work that was issued before holds what it needs of the module. Refuses with
/// cudaErrorInvalidResourceHandle.
void unload_module(Simulator& simulator, void* handle);

/// Refuses with cudaErrorInvalidResourceHandle, or with cudaErrorSymbolNotFound.
std::shared_ptr<Kernel> kernel_of_module(Simulator& simulator, void* handle, const std::string& name);

/// Its address on the current device, and its size. Refuses as above.
std::pair<std::uint64_t, std::size_t> variable_of_module(Simulator& simulator, void* handle,
                                                         const std::string& name);

}  // namespace opgate::simulator
