#include "runtime/code/binaries.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <utility>

#include "runtime/code/architecture.h"
#include "runtime/code/elf_file.h"
#include "runtime/findings/errors.h"
#include "runtime/findings/report.h"

namespace opgate::simulator {
namespace binaries {

// With -rdc=true, nvcc puts the device code of each file into a section of its own, and links it.
bool has_relocatable_code(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  const std::string contents{std::istreambuf_iterator<char>(stream), {}};
  if (!contents.starts_with(ELFMAG)) return false;
  try {
    const ElfFile file(contents.data(), contents.size());
    for (unsigned i = 0; i < file.sections(); ++i) {
      const Elf64_Shdr section = file.section(i);
      if (section.sh_size != 0 && file.name_of(section) == "__nv_relfatbin") return true;
    }
  } catch (const std::runtime_error&) {
    return false;
  }
  return false;
}

}  // namespace binaries

Module& DeviceBinary::on(int device, MemoryMap& memory) { return *load(device, memory).module; }

const DeviceCode& DeviceBinary::code() {
  if (!code_) code_ = read_device_code(data_, architecture().capability, false);
  return *code_;
}

DeviceBinary::Loaded& DeviceBinary::load(int device, MemoryMap& memory) {
  if (const auto found = loaded_.find(device); found != loaded_.end()) return found->second;
  Loaded loaded;
  try {
    if (!code().ptx.empty()) loaded.module = Module::parse(code().ptx, code().is_of_triton);
  } catch (const std::exception& error) {
    refuse(cudaErrorInvalidPtx, path() + ": " + error.what());
  }
  if (loaded.module == nullptr) {
    if (binaries::has_relocatable_code(path()))
      errors::note_unsupported(
          "relocatable device code (nvcc -rdc=true, which kernels that launch kernels need; the PTX in " +
          path() + " is for nvcc's linker only)");
    else
      errors::note_unsupported(
          "machine code without PTX for sm_" + std::to_string(architecture().capability) +
          " or older (compile it with -gencode arch=compute_80,code=compute_80 as well; " + path() +
          " has only " + code().contents + ")");
    throw Refusal(cudaErrorNoKernelImageForDevice, /*told=*/true);
  }
  for (const auto& variable : loaded.module->variables()) {
    const std::uint64_t address = memory.allocate(device, variable.bytes);
    std::byte* const data = memory.range().alias(address);
    std::memset(data, 0, variable.bytes);
    memory.mark_written(address, variable.bytes);
    std::memcpy(data, variable.initial.data(), std::min(variable.initial.size(), variable.bytes));
    loaded.module->place(variable.name, address);
    loaded.variables[variable.name] = {address, variable.bytes};
  }
  report_progress("device " + std::to_string(device) + " reads " + std::to_string(code().ptx.size()) +
                  " characters of PTX of " + path());
  return loaded_[device] = std::move(loaded);
}

std::pair<std::uint64_t, std::size_t> DeviceBinary::variable(const std::string& name, int device,
                                                             MemoryMap& memory) {
  const auto& variables = load(device, memory).variables;
  const auto found = variables.find(name);
  if (found == variables.end()) refuse(cudaErrorInvalidSymbol);
  return found->second;
}

std::string DeviceBinary::path() const {
  if (symbol_ == nullptr) return path_;
  Dl_info where{};
  return dladdr(symbol_, &where) != 0 && where.dli_fname != nullptr ? where.dli_fname : "a library";
}

DeviceBinary* Binaries::add(const unsigned char* data, const void* symbol) {
  return add(std::make_shared<DeviceBinary>(data, symbol));
}

DeviceBinary* Binaries::add(DeviceCode code, std::string path) {
  return add(std::make_shared<DeviceBinary>(std::move(code), std::move(path)));
}

DeviceBinary* Binaries::add(std::shared_ptr<DeviceBinary> binary) {
  DeviceBinary* const key = binary.get();
  binaries_[key].binary = std::move(binary);
  return key;
}

Binaries::Registered& Binaries::registered(DeviceBinary* binary) {
  const auto found = binaries_.find(binary);
  if (found == binaries_.end()) refuse(cudaErrorInvalidResourceHandle);
  return found->second;
}

// Work that was issued before holds what it needs of the library. An address may have been registered again
// by another library, whose it then is.
void Binaries::remove(DeviceBinary* binary) {
  const auto found = binaries_.find(binary);
  if (found == binaries_.end()) return;
  for (const void* function : found->second.functions) {
    const auto kernel = kernels_.find(function);
    if (kernel != kernels_.end() && kernel->second->binary.get() == binary) kernels_.erase(kernel);
  }
  for (cudaKernel_t handle : found->second.handles) by_handle_.erase(handle);
  for (const void* name : found->second.variables) {
    const auto variable = variables_.find(name);
    if (variable != variables_.end() && variable->second.binary.get() == binary) variables_.erase(variable);
  }
  binaries_.erase(found);
}

void Binaries::add_kernel(DeviceBinary* binary, const void* host_function, std::string name) {
  Registered& owner = registered(binary);
  auto kernel = std::make_shared<Kernel>(Kernel{owner.binary, std::move(name), {}});
  owner.handles.push_back(handle(kernel));
  owner.functions.push_back(host_function);
  by_handle_[handle(kernel)] = kernel;
  kernels_[host_function] = std::move(kernel);
}

void Binaries::add_variable(DeviceBinary* binary, const void* host_variable, std::string name) {
  Registered& owner = registered(binary);
  owner.variables.push_back(host_variable);
  variables_[host_variable] = {owner.binary, std::move(name)};
}

std::shared_ptr<Kernel> Binaries::kernel_of(DeviceBinary* binary, const std::string& name, int device,
                                            MemoryMap& memory) {
  Registered& owner = registered(binary);
  for (cudaKernel_t known : owner.handles)
    if (by_handle_.at(known)->name == name) return by_handle_.at(known);
  auto kernel = std::make_shared<Kernel>(Kernel{owner.binary, name, {}});
  const std::vector<std::string> all = binary->on(device, memory).kernels();
  if (std::ranges::find(all, name) == all.end()) refuse(cudaErrorSymbolNotFound);
  owner.handles.push_back(handle(kernel));
  by_handle_[handle(kernel)] = kernel;
  return kernel;
}

std::shared_ptr<Kernel> Binaries::kernel(const void* host_function) const {
  const auto found = kernels_.find(host_function);
  // Functions that take a kernel accept its handle too.
  if (found == kernels_.end()) return kernel(static_cast<cudaKernel_t>(const_cast<void*>(host_function)));
  return found->second;
}

std::shared_ptr<Kernel> Binaries::kernel(cudaKernel_t handle) const {
  const auto found = by_handle_.find(handle);
  if (found == by_handle_.end()) refuse(cudaErrorInvalidDeviceFunction);
  return found->second;
}

cudaKernel_t Binaries::handle(const std::shared_ptr<Kernel>& kernel) {
  return reinterpret_cast<cudaKernel_t>(kernel.get());
}

std::pair<std::uint64_t, std::size_t> Binaries::variable(const void* host_variable, int device,
                                                         MemoryMap& memory) const {
  const auto found = variables_.find(host_variable);
  if (found == variables_.end()) refuse(cudaErrorInvalidSymbol);
  return found->second.binary->variable(found->second.name, device, memory);
}

Binaries& registered_binaries() {
  static auto* const only = new Binaries;
  return *only;
}

}  // namespace opgate::simulator
