#include "runtime/launches/torch_operators.h"

#include <dlfcn.h>
#include <link.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <regex>
#include <string>

#include "runtime/findings/report.h"

namespace opgate::simulator {
namespace torch_operators {

namespace fs = std::filesystem;

constexpr const char* kBegin = "libopgate_simulator_aten-";  // followed by torch's release

// The folder of this library.
fs::path folder() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&load_operators_of_torch), &info) == 0) return {};
  return fs::path(info.dli_fname).parent_path();
}

// As torch/version.py has it, beside the folder of torch's libraries; empty if that is not there.
std::string version(const fs::path& library) {
  std::ifstream file(library.parent_path().parent_path() / "version.py");
  static const std::regex assignment("__version__ = '(.+)'");
  std::smatch match;
  for (std::string line; std::getline(file, line);)
    if (std::regex_match(line, match, assignment)) return match[1];
  return "";
}

// The library for a minor release serves all builds of it, see cmake/OpGateTorch.cmake.
std::string release(const std::string& version) {
  static const std::regex of_release(R"((\d+\.\d+)\.\d+(\+(cpu|cu\d+|xpu|rocm[\d.]+))?)");
  std::smatch match;
  return std::regex_match(version, match, of_release) ? match[1].str() : version;
}

// The releases for which there are libraries here.
std::string releases_here() {
  std::string all;
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder(), ignored)) {
    const std::string name = entry.path().stem().string();
    if (name.starts_with(kBegin)) all += (all.empty() ? "" : ", ") + name.substr(std::string(kBegin).size());
  }
  return all.empty() ? "no torch" : "torch " + all;
}

void load(const fs::path& torch) {
  const std::string of_program = version(torch);
  const fs::path file = folder() / (kBegin + release(of_program) + ".so");
  std::error_code ignored;
  if (!fs::exists(file, ignored))
    return report_notice("torch's CUDA operators cannot be simulated: the program has torch " + of_program +
                         ", and " + folder().string() + " has the operators of " + releases_here());
  if (dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL) == nullptr)
    report_notice("torch's CUDA operators cannot be simulated: " + std::string(dlerror()));
}

}  // namespace torch_operators

void load_operators_of_torch() {
  static std::atomic<bool> done{false};
  void* const torch = dlopen("libtorch_cuda.so", RTLD_LAZY | RTLD_NOLOAD);
  if (torch == nullptr) return;
  link_map* map = nullptr;
  const bool is_known = dlinfo(torch, RTLD_DI_LINKMAP, &map) == 0;
  const std::string file = is_known ? map->l_name : "";
  dlclose(torch);                   // releases only this handle
  if (done.exchange(true)) return;  // the library asks for devices itself while it is loaded
  torch_operators::load(file);
}

}  // namespace opgate::simulator
