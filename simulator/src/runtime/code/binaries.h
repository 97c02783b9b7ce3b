// The kernels and variables that libraries register when they are loaded, and their PTX on each device.
#pragma once

#include <driver_types.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "kernels/module.h"
#include "runtime/code/device_code.h"
#include "runtime/memory/memory_map.h"

namespace opgate::simulator {

/// The device code of one library, or of a module that a program loads while it runs. Every device has
/// variables of its own, and so a module of its own.
class DeviceBinary {
 public:
  /// For a library: `data` stays where it is as long as this object. `symbol` is any address in the library.
  DeviceBinary(const unsigned char* data, const void* symbol) : data_(data), symbol_(symbol) {}
  /// For a module: the program may free what it was loaded from.
  DeviceBinary(DeviceCode code, std::string path) : path_(std::move(path)), code_(std::move(code)) {}

  /// The module on a device, which is read when it is first needed. Refuses with
  /// cudaErrorNoKernelImageForDevice where the library has no PTX for it.
  Module& on(int device, MemoryMap& memory);

  /// The device address and size of a variable. Refuses with cudaErrorInvalidSymbol.
  std::pair<std::uint64_t, std::size_t> variable(const std::string& name, int device, MemoryMap& memory);

 private:
  struct Loaded {
    std::unique_ptr<Module> module;
    std::map<std::string, std::pair<std::uint64_t, std::size_t>> variables;
  };

  const DeviceCode& code();
  Loaded& load(int device, MemoryMap& memory);
  std::string path() const;

  const unsigned char* data_ = nullptr;
  const void* symbol_ = nullptr;  // its library is looked up for a message: torch has thousands of binaries
  std::string path_;
  std::optional<DeviceCode> code_;  // read when it is first needed
  std::map<int, Loaded> loaded_;
};

struct Kernel {
  std::shared_ptr<DeviceBinary> binary;
  std::string name;
  std::map<int, std::size_t> dynamic_shared;  ///< on each device, as cudaFuncSetAttribute allowed it
  bool allows_large_clusters = false;
  /// For the first parameters, in the order of the PTX, which has no names; empty if nothing has given them.
  std::vector<std::string> parameter_names = {};
};

class Binaries {
 public:
  /// The handle that registration functions get.
  DeviceBinary* add(const unsigned char* data, const void* symbol);
  DeviceBinary* add(DeviceCode code, std::string path);
  void remove(DeviceBinary* binary);

  void add_kernel(DeviceBinary* binary, const void* host_function, std::string name);
  void add_variable(DeviceBinary* binary, const void* host_variable, std::string name);

  /// A kernel of a module, which no function of the host stands for. Refuses with cudaErrorSymbolNotFound.
  std::shared_ptr<Kernel> kernel_of(DeviceBinary* binary, const std::string& name, int device,
                                    MemoryMap& memory);

  /// Refuses with cudaErrorInvalidDeviceFunction.
  std::shared_ptr<Kernel> kernel(const void* host_function) const;
  std::shared_ptr<Kernel> kernel(cudaKernel_t handle) const;
  static cudaKernel_t handle(const std::shared_ptr<Kernel>& kernel);

  std::pair<std::uint64_t, std::size_t> variable(const void* host_variable, int device,
                                                 MemoryMap& memory) const;

 private:
  struct Variable {
    std::shared_ptr<DeviceBinary> binary;
    std::string name;
  };
  // What of the maps below belongs to a binary.
  struct Registered {
    std::shared_ptr<DeviceBinary> binary;
    std::vector<const void*> functions;
    std::vector<cudaKernel_t> handles;
    std::vector<const void*> variables;
  };

  DeviceBinary* add(std::shared_ptr<DeviceBinary> binary);
  Registered& registered(DeviceBinary* binary);

  std::unordered_map<DeviceBinary*, Registered> binaries_;
  std::map<const void*, std::shared_ptr<Kernel>> kernels_;  // by the address of the host's function
  std::map<cudaKernel_t, std::shared_ptr<Kernel>> by_handle_;
  std::map<const void*, Variable> variables_;  // by the address of the host's variable
};

/// Libraries register themselves while they are loaded, also in processes that never use a device, or whose
/// children do. That is why this exists without the other parts of the simulator.
Binaries& registered_binaries();

}  // namespace opgate::simulator
