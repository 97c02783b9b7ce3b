#include "runtime/launches/torch_operators.h"

#include <dlfcn.h>

#include <atomic>
#include <string>

#include "runtime/findings/report.h"

namespace opgate::simulator {
namespace torch_operators {

constexpr const char* kLibrary = "libopgate_simulator_aten.so";

// The path of this library up to its last slash.
std::string folder() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&load_operators_of_torch), &info) == 0) return "";
  const std::string file = info.dli_fname;
  return file.substr(0, file.rfind('/') + 1);
}

}  // namespace torch_operators

void load_operators_of_torch() {
  static std::atomic<bool> done{false};
  void* const torch = dlopen("libtorch_cuda.so", RTLD_LAZY | RTLD_NOLOAD);
  if (torch == nullptr) return;
  dlclose(torch);                   // releases only this handle
  if (done.exchange(true)) return;  // the library asks for devices itself while it is loaded
  const std::string file = torch_operators::folder() + torch_operators::kLibrary;
  if (dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL) == nullptr)
    report_notice("torch's CUDA operators cannot be simulated: " + std::string(dlerror()));
}

}  // namespace opgate::simulator
