// A folder that Hugging Face's kernel-builder has made: one build of a kernel, for one torch and one backend.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace opgate {

/// What `metadata.json` and the files of such a folder say. Each build registers its operators in a namespace
/// of its own, and has a Python module of that name, so that one process can load several builds.
struct KernelFolder {
  std::filesystem::path folder;
  std::string id;    ///< of the build: "_relu_cpu_30dc0ae"
  std::string name;  ///< the same for each build of the kernel: "_relu_cpu"; specs and case ids use it
  std::vector<std::filesystem::path> libraries;  ///< empty for a kernel in Python, such as one in Triton
};

/// Reads the folder. Returns nothing if it has no metadata.json with an "id" and a "name".
std::optional<KernelFolder> read_kernel_folder(const std::filesystem::path& folder);

}  // namespace opgate
