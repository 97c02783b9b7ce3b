// libnvrtc.so.13 and libnvrtc.so.12 for programs whose kernels run on the simulated device. Each calls the
// real one of its name, and keeps the PTX beside the machine code that a program asks for, which the
// simulator cannot read.
#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "nvrtc/functions.h"
#include "ptxas/machine_code.h"

namespace fs = std::filesystem;

namespace {

using Program = void*;
using Status = int;
constexpr Status kSuccess = 0, kInternalError = 11;  // NVRTC_SUCCESS, NVRTC_ERROR_INTERNAL_ERROR
constexpr const char* kName = OPGATE_NVRTC;

// Folders in which the real library may be: those of all libraries that are loaded, as torch's packages put
// it beside cuBLAS, then those of LD_LIBRARY_PATH and of the toolkit.
std::vector<fs::path> folders() {
  std::vector<fs::path> all;
  dl_iterate_phdr(
      [](dl_phdr_info* library, size_t, void* found) {
        if (library->dlpi_name != nullptr)
          static_cast<std::vector<fs::path>*>(found)->push_back(fs::path(library->dlpi_name).parent_path());
        return 0;
      },
      &all);
  if (const char* const path = std::getenv("LD_LIBRARY_PATH")) {
    std::string_view rest = path;
    while (!rest.empty()) {
      const size_t end = std::min(rest.find(':'), rest.size());
      all.emplace_back(rest.substr(0, end));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }
  for (const char* const variable : {"CUDA_HOME", "CUDA_PATH"})
    if (const char* const toolkit = std::getenv(variable)) all.push_back(fs::path(toolkit) / "lib64");
  all.emplace_back("/usr/local/cuda/lib64");
  return all;
}

fs::path own_folder() {
  Dl_info info{};
  return dladdr(&kName, &info) != 0 ? fs::path(info.dli_fname).parent_path() : fs::path();
}

void* open_real() {
  std::error_code ignored;
  const fs::path own = own_folder();
  for (const fs::path& folder : folders()) {
    const fs::path file = folder / kName;
    if (folder.empty() || !fs::exists(file, ignored) || fs::equivalent(folder, own, ignored)) continue;
    if (void* const library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL)) return library;
    std::fprintf(stderr, "opgate sim: %s\n", dlerror());
  }
  std::fprintf(stderr,
               "opgate sim: the real %s, which compiles kernels, is in no folder of a loaded library, of "
               "LD_LIBRARY_PATH, or of CUDA_HOME\n",
               kName);
  return nullptr;
}

void* real(const char* name) {
  static void* const library = open_real();
  return library != nullptr ? dlsym(library, name) : nullptr;
}

// Calls a function of the real library. All of them take at most six integers or pointers.
template <class... Arguments>
std::intptr_t call(const char* name, Arguments... arguments) {
  auto* const function = reinterpret_cast<std::intptr_t (*)(Arguments...)>(real(name));
  return function != nullptr ? function(arguments...) : kInternalError;
}

Status machine_code_with_ptx(Program program, std::string& code) {
  size_t size = 0;
  if (const auto status = static_cast<Status>(call("nvrtcGetCUBINSize", program, &size)); status != kSuccess)
    return status;
  if (size == 0) return kSuccess;  // compiled for a virtual architecture, which has PTX alone
  code.resize(size);
  if (const auto status = static_cast<Status>(call("nvrtcGetCUBIN", program, code.data()));
      status != kSuccess)
    return status;
  if (call("nvrtcGetPTXSize", program, &size) != kSuccess || size == 0) return kSuccess;
  std::string ptx(size, '\0');
  if (call("nvrtcGetPTX", program, ptx.data()) != kSuccess) return kSuccess;
  ptx.resize(std::strlen(ptx.c_str()));
  try {
    code = opgate::simulator::with_ptx(code, ptx);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "opgate sim: the machine code of %s: %s\n", kName, error.what());
  }
  return kSuccess;
}

}  // namespace

extern "C" {

#define OPGATE_PASS_ON(name)                                                                             \
  __attribute__((visibility("default"))) std::intptr_t name(void* a, void* b, void* c, void* d, void* e, \
                                                            void* f) {                                   \
    return call(#name, a, b, c, d, e, f);                                                                \
  }
OPGATE_NVRTC_FUNCTIONS(OPGATE_PASS_ON)
#undef OPGATE_PASS_ON

__attribute__((visibility("default"))) Status nvrtcGetCUBINSize(Program program, size_t* size) {
  std::string code;
  const Status status = machine_code_with_ptx(program, code);
  if (status == kSuccess) *size = code.size();
  return status;
}

__attribute__((visibility("default"))) Status nvrtcGetCUBIN(Program program, char* buffer) {
  std::string code;
  const Status status = machine_code_with_ptx(program, code);
  if (status == kSuccess) std::memcpy(buffer, code.data(), code.size());
  return status;
}

__attribute__((visibility("default"))) const char* nvrtcGetErrorString(Status status) {
  auto* const function = reinterpret_cast<const char* (*)(Status)>(real("nvrtcGetErrorString"));
  return function != nullptr ? function(status) : "the real " OPGATE_NVRTC " is not there";
}

// With the lines of the source, by which findings name a place.
__attribute__((visibility("default"))) Status nvrtcCompileProgram(Program program, int count,
                                                                  const char* const* options) {
  std::vector<const char*> all(options, options + count);
  const auto asks_for_lines = [](std::string_view option) {
    return option == "--generate-line-info" || option == "-lineinfo";
  };
  if (std::ranges::none_of(all, asks_for_lines)) all.push_back("--generate-line-info");
  return static_cast<Status>(call("nvrtcCompileProgram", program, all.size(), all.data()));
}

}  // extern "C"
