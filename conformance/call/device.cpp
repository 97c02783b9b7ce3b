#include "call/device.h"

#include <ATen/Context.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <dlfcn.h>
#include <fmt/format.h>
#include <opgate/error.h>

#include <filesystem>

namespace opgate {
namespace {

std::filesystem::path torch_library_folder() {
  Dl_info info{};
  dladdr(reinterpret_cast<const void*>(&at::globalContext), &info);
  return std::filesystem::path(info.dli_fname).parent_path();
}

std::optional<std::string> missing_cuda() {
  void* driver = dlopen("libcuda.so.1", RTLD_NOW);
  if (driver == nullptr) return "no NVIDIA driver (libcuda.so.1) on this machine";
  const auto init = reinterpret_cast<int (*)(unsigned)>(dlsym(driver, "cuInit"));
  const auto count = reinterpret_cast<int (*)(int*)>(dlsym(driver, "cuDeviceGetCount"));
  int devices = 0;
  if (init == nullptr || count == nullptr || init(0) != 0 || count(&devices) != 0 || devices == 0) {
    return "the NVIDIA driver finds no GPU on this machine";
  }
  if (!std::filesystem::exists(torch_library_folder() / "libtorch_cuda.so")) {
    return "there is a GPU, but this torch is built without CUDA";
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> missing_device(c10::DeviceType device) {
  if (device != c10::kCUDA) return std::nullopt;
  // Asking the driver is slow, and its answer stays the same.
  static const std::optional<std::string> reason = missing_cuda();
  return reason;
}

void synchronize(c10::DeviceType device) {
  if (device == c10::kCPU) return;
  const c10::impl::VirtualGuardImpl guard(device);
  guard.synchronizeDevice(guard.getDevice().index());
}

bool is_lost(c10::DeviceType device) {
  try {
    synchronize(device);
    return false;
  } catch (const c10::Error&) {  // a sticky error: every call from now on repeats it
    return true;
  }
}

void enable_device(c10::DeviceType device) {
  if (device != c10::kCUDA) return;
  const std::filesystem::path library = torch_library_folder() / "libtorch_cuda.so";
  if (dlopen(library.c_str(), RTLD_NOW | RTLD_GLOBAL) == nullptr) {
    throw SetupError(fmt::format("there is a GPU, but this torch has no CUDA: {}", dlerror()));
  }
}

}  // namespace opgate
