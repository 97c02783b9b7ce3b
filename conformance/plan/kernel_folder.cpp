#include "plan/kernel_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

namespace opgate {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

// kernel-builder makes "_NAME_BACKEND_HASH", and earlier made "_NAME_HASH". Another id is its own name.
std::string without_hash(const std::string& id, std::string kernel, const std::string& backend) {
  std::ranges::replace(kernel, '-', '_');
  for (const std::string& name : {fmt::format("_{}_{}", kernel, backend), "_" + kernel}) {
    if (id.starts_with(name + "_")) return name;
  }
  return id;
}

}  // namespace

std::optional<KernelFolder> read_kernel_folder(const fs::path& folder) {
  const json metadata =
      json::parse(std::ifstream(folder / "metadata.json"), nullptr, /*allow_exceptions=*/false);
  KernelFolder kernel{.folder = folder, .id = {}, .name = {}, .libraries = {}};
  try {
    metadata.at("id").get_to(kernel.id);
    const json backend = metadata.value("backend", json::object());
    kernel.name = without_hash(kernel.id, metadata.at("name"), backend.value("type", ""));
  } catch (const json::exception&) {  // packages of other kinds may have a file of this name, too
    return std::nullopt;
  }
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".so") kernel.libraries.push_back(entry.path());
  }
  std::ranges::sort(kernel.libraries);
  return kernel;
}

}  // namespace opgate
