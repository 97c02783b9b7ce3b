#include "device/device.h"

#include <ATen/Context.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <dlfcn.h>
#include <fmt/format.h>
#include <opgate/error.h>

#include <array>
#include <filesystem>

#include "base/files.h"
#include "device/cuda_services.h"

namespace opgate {
namespace {

std::filesystem::path torch_cuda_library() {
  Dl_info info{};
  dladdr(reinterpret_cast<const void*>(&at::globalContext), &info);
  return std::filesystem::path(info.dli_fname).parent_path() / "libtorch_cuda.so";
}

std::filesystem::path opgate_cuda_library() { return this_library().parent_path() / "libopgate_cuda.so"; }

CudaServices* provided = nullptr;

std::optional<std::string> missing_cuda() {
  void* driver = dlopen("libcuda.so.1", RTLD_NOW);
  if (driver == nullptr) return "no NVIDIA driver (libcuda.so.1) on this machine";
  const auto init = reinterpret_cast<int (*)(unsigned)>(dlsym(driver, "cuInit"));
  const auto count = reinterpret_cast<int (*)(int*)>(dlsym(driver, "cuDeviceGetCount"));
  int devices = 0;
  if (init == nullptr || count == nullptr || init(0) != 0 || count(&devices) != 0 || devices == 0) {
    return "the NVIDIA driver finds no GPU on this machine";
  }
  if (!std::filesystem::exists(torch_cuda_library())) {
    return "there is a GPU, but this torch is built without CUDA";
  }
  if (!std::filesystem::exists(opgate_cuda_library())) {
    return "there is a GPU, but this OpGate is built without CUDA: put nvcc on PATH and build again";
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> missing_device(c10::DeviceType device) {
  if (device != c10::kCUDA) return std::nullopt;
  // The answer is kept, because asking the driver is slow and the answer does not change.
  static const std::optional<std::string> reason = missing_cuda();
  return reason;
}

std::string device_model(c10::DeviceType device) {
  if (device != c10::kCUDA || missing_device(device)) return "";
  void* driver = dlopen("libcuda.so.1", RTLD_NOW);
  const auto get = reinterpret_cast<int (*)(int*, int)>(dlsym(driver, "cuDeviceGet"));
  const auto name_of = reinterpret_cast<int (*)(char*, int, int)>(dlsym(driver, "cuDeviceGetName"));
  std::array<char, 256> name{};
  int first = 0;
  if (get == nullptr || name_of == nullptr || get(&first, 0) != 0 ||
      name_of(name.data(), static_cast<int>(name.size()), first) != 0) {
    return "a GPU without a name";
  }
  return name.data();
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
  if (device == c10::kCPU) return false;
  const c10::impl::VirtualGuardImpl guard(device);
  const auto& hooks = at::globalContext().getAcceleratorHooksInterface(device);
  try {
    for (c10::DeviceIndex i = 0; i < guard.deviceCount(); ++i) {
      if (hooks.hasPrimaryContext(i)) guard.synchronizeDevice(i);  // this process uses no other devices
    }
    return false;
  } catch (const c10::Error&) {  // a sticky error: every call from now on repeats it
    return true;
  }
}

bool has_torch_cuda() { return std::filesystem::exists(torch_cuda_library()); }

void enable_device(c10::DeviceType device, DeviceAllocator allocator) {
  if (device != c10::kCUDA || provided != nullptr) return;
  for (const std::filesystem::path& library : {torch_cuda_library(), opgate_cuda_library()}) {
    if (dlopen(library.c_str(), RTLD_NOW | RTLD_GLOBAL) == nullptr)
      throw SetupError(fmt::format("CUDA cannot be used in this process: {}", dlerror()));
  }
  // torch checks once whether CUDA is available, and keeps the answer even if libtorch_cuda.so is loaded
  // later.
  if (!at::globalContext().hasCUDA())
    throw SetupError("CUDA cannot be used in this process: torch looked for it before it was loaded");
  if (allocator == DeviceAllocator::guarded) cuda_services().guard_memory();
}

void provide(CudaServices& services) { provided = &services; }

CudaServices& cuda_services() {
  if (provided == nullptr) throw SetupError("CUDA has not been enabled in this process");
  return *provided;
}

}  // namespace opgate
