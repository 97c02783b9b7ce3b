// CUDA as an accelerator. A simulated CUDA device is the same to torch, in a process that was started with
// simulator_environment().
#include <ATen/Context.h>
#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "base/errors.h"
#include "base/files/files.h"
#include "base/text.h"
#include "device/accelerator.h"
#include "device/torch_cuda.h"

namespace opgate {
namespace {

std::filesystem::path opgate_cuda_library() { return this_library().parent_path() / "libopgate_cuda.so"; }

std::optional<std::string> missing_cuda() {
  void* driver = dlopen("libcuda.so.1", RTLD_NOW);
  if (driver == nullptr) return "no NVIDIA driver (libcuda.so.1) on this machine";
  const auto init = reinterpret_cast<int (*)(unsigned)>(dlsym(driver, "cuInit"));
  const auto count = reinterpret_cast<int (*)(int*)>(dlsym(driver, "cuDeviceGetCount"));
  int devices = 0;
  if (init == nullptr || count == nullptr || init(0) != 0 || count(&devices) != 0 || devices == 0) {
    return "the NVIDIA driver finds no GPU on this machine";
  }
  if (!has_torch_cuda()) return "there is a GPU, but this torch is built without CUDA";
  if (!std::filesystem::exists(opgate_cuda_library())) {
    return "there is a GPU, but this OpGate is built without CUDA: put nvcc on PATH and build again";
  }
  return std::nullopt;
}

template <size_t N>
bool starts_with_one_of(std::string_view text, const std::array<std::string_view, N>& beginnings) {
  return std::ranges::any_of(beginnings, [&](std::string_view begin) { return text.starts_with(begin); });
}

class Cuda final : public Accelerator {
 public:
  c10::DeviceType type() const override { return c10::kCUDA; }

  AcceleratorWords words() const override {
    return {.device_guard = "c10::cuda::CUDAGuard",
            .current_stream = "c10::cuda::getCurrentCUDAStream()",
            .launch_check = "C10_CUDA_KERNEL_LAUNCH_CHECK()",
            .last_error = "cudaGetLastError()",
            .graph = "CUDA graph",
            .allocation = "cudaMalloc"};
  }

  std::optional<std::string> missing() const override {
    // The answer is kept, because asking the driver is slow and the answer does not change.
    static const std::optional<std::string> reason = missing_cuda();
    return reason;
  }

  std::string model() const override {
    if (missing()) return "";
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

  std::string compiler() const override { return "nvcc"; }

  std::string_view visible_devices() const override { return "CUDA_VISIBLE_DEVICES"; }

  std::vector<std::string> torch_libraries() const override { return {"libc10_cuda.so", "libtorch_cuda.so"}; }

  // The wheels in which torch's own dependencies come: site-packages/nvidia/*/lib.
  std::vector<std::filesystem::path> library_folders() const override {
    std::vector<std::filesystem::path> folders;
    const std::filesystem::path packages =
        torch_cuda_library().parent_path().parent_path().parent_path() / "nvidia";
    std::error_code missing;
    for (const auto& entry : std::filesystem::directory_iterator(packages, missing))
      folders.push_back(entry.path() / "lib");
    return folders;
  }

  bool has_library(std::string_view file) const override {
    return starts_with_one_of(file, std::array<std::string_view, 2>{"libcu", "libnv"});
  }

  bool has_symbol(std::string_view symbol, std::string_view demangled) const override {
    const bool is_driver =
        symbol.size() > 2 && symbol.starts_with("cu") && symbol[2] >= 'A' && symbol[2] <= 'Z';
    constexpr std::array<std::string_view, 5> kRuntime{"cuda", "__cuda", "cublas", "cudnn", "nccl"};
    return is_driver || starts_with_one_of(symbol, kRuntime) ||
           demangled.find("c10::cuda::") != std::string_view::npos ||
           demangled.find("at::cuda::") != std::string_view::npos;
  }

  bool is_error_of_runtime(std::string_view message) const override {
    constexpr std::array<std::string_view, 3> kParts{"cuda error", "device-side assert",
                                                     "illegal memory access"};
    return std::ranges::any_of(kParts,
                               [&](std::string_view part) { return contains_ignoring_case(message, part); });
  }

  // Loads libtorch_cuda.so, which `opgate` does not link because that costs a second at start, and
  // libopgate_cuda.so, which provides the services.
  void enable(DeviceAllocator allocator) override {
    if (provided_services(type()) != nullptr) return;
    for (const std::filesystem::path& library : {torch_cuda_library(), opgate_cuda_library()}) {
      if (dlopen(library.c_str(), RTLD_NOW | RTLD_GLOBAL) == nullptr)
        throw setup_error("CUDA cannot be used in this process: {}", dlerror());
    }
    // torch checks once whether CUDA is available, and keeps the answer even if libtorch_cuda.so is loaded
    // later.
    if (!at::globalContext().hasCUDA())
      throw SetupError("CUDA cannot be used in this process: torch looked for it before it was loaded");
    if (allocator == DeviceAllocator::guarded) services().guard_memory();
  }

  AcceleratorServices& services() const override {
    AcceleratorServices* const provided = provided_services(type());
    if (provided == nullptr) throw SetupError("CUDA has not been enabled in this process");
    return *provided;
  }
};

Cuda cuda;
[[maybe_unused]] const bool registered_cuda = register_accelerator(cuda);

}  // namespace

std::filesystem::path torch_cuda_library() {
  Dl_info info{};
  dladdr(reinterpret_cast<const void*>(&at::globalContext), &info);
  return std::filesystem::path(info.dli_fname).parent_path() / "libtorch_cuda.so";
}

bool has_torch_cuda() { return std::filesystem::exists(torch_cuda_library()); }

}  // namespace opgate
