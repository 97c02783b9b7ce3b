#include "cli/recording/operator_origins.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/files/files.h"
#include "spec/schema/function_name.h"
#include "spec/specs.h"

namespace opgate {
namespace {

namespace fs = std::filesystem;

// Returns true for libraries of torch, CUDA, Python, OpGate and the system.
bool is_foreign(const fs::path& library) {
  const std::string path = library.string();
  return std::ranges::any_of(
      std::array{"/torch/lib/", "/nvidia/", "/lib-dynload/", "/libopgate", "/opgate/_engine",
                 "/usr/lib/x86_64-linux-gnu/", "/lib/x86_64-linux-gnu/", "/torch/_C.", "/libpython"},
      [&](const char* part) { return path.find(part) != std::string::npos; });
}

std::string namespace_of(const std::string& op) { return op.substr(0, op.find("::")); }

std::string plain_name(const std::string& op) {
  const std::string name = op.substr(op.find("::") + 2);
  return name.substr(0, name.find('.'));
}

// A library that registers operators is linked with torch, and contains their names as text.
bool uses_torch(const std::string& bytes) {
  return std::ranges::any_of(std::array{"libc10.so", "libtorch", "aoti_torch_"},
                             [&](const char* name) { return bytes.find(name) != std::string::npos; });
}

bool defines(const std::string& bytes, const std::string& op) {
  return bytes.find(namespace_of(op)) != std::string::npos && bytes.find(plain_name(op)) != std::string::npos;
}

// Returns the folder that must be in sys.path for Python to find `module`, which is in `file`.
fs::path root_of(const fs::path& file, const std::string& module) {
  fs::path folder = file.parent_path();
  const auto dots = std::ranges::count(module, '.') + (file.stem() == "__init__" ? 1 : 0);
  for (auto i = 0; i < dots; ++i) folder = folder.parent_path();
  return folder;
}

template <class T>
void add_once(std::vector<T>& all, const T& one) {
  if (std::ranges::find(all, one) == all.end()) all.push_back(one);
}

}  // namespace

void OperatorOrigins::read(const nlohmann::json& line) {
  const auto module = [&](const char* key) {
    const std::string name = line.at(key);
    return RecordedModule{name, root_of(line.at("file").get<std::string>(), name)};
  };
  if (line.contains("torch")) torch_.insert(line.at("torch").get<std::string>());
  if (line.contains("library")) libraries_.insert(line.at("library").get<std::string>());
  if (line.contains("package")) read_package(line.at("package"), line.at("folder").get<std::string>());
  if (line.contains("module")) add_once(modules_[line.at("op")], module("module"));
  if (line.contains("program")) add_once(program_, module("program"));
  if (line.contains("variable")) environment_[line.at("variable")] = line.at("value");
}

void OperatorOrigins::read_package(const std::string& name, const fs::path& folder) {
  if (const auto known = packages_.find(name); known != packages_.end() && known->second == folder) return;
  const std::optional<KernelFolder> kernel = read_kernel_folder(folder);
  if (!kernel || kernel->id != name) {
    packages_[name] = folder;
  } else if (std::ranges::find(kernels_, name, &KernelFolder::id) == kernels_.end()) {
    kernels_.push_back(*kernel);
  }
}

BuiltNamespaces OperatorOrigins::built_namespaces() const {
  BuiltNamespaces namespaces;
  for (const KernelFolder& kernel : kernels_) namespaces[kernel.name] = kernel.id;
  return namespaces;
}

bool OperatorOrigins::is_of_kernel(const std::string& op, Recording& recording) const {
  const auto kernel = std::ranges::find(kernels_, op.substr(0, op.find_first_of(":.")), &KernelFolder::name);
  if (kernel == kernels_.end()) return false;
  if (std::ranges::find(recording.kernels, kernel->id, &KernelFolder::id) == recording.kernels.end())
    recording.kernels.push_back(*kernel);
  return true;
}

void OperatorOrigins::find(Recording& recording) const {
  recording.torch = torch_;
  recording.program = program_;
  recording.environment = environment_;
  std::map<fs::path, std::string> candidates;
  for (const fs::path& library : libraries_) {
    if (is_foreign(library)) continue;
    recording.loaded.push_back(library);
    // Asked once for each library: a program may have loaded many that have nothing to do with torch.
    if (std::string bytes = content_of(library); uses_torch(bytes)) candidates[library] = std::move(bytes);
  }
  const auto add_package = [&](const std::string& name, const fs::path& folder) {
    add_once(recording.modules, RecordedModule{name, folder.parent_path()});
  };
  for (const auto& [op, told] : recording.operators) {
    if (is_of_kernel(op, recording)) continue;
    bool found = is_defined_in_cpp(op);  // by torch itself, since this process has loaded nothing else
    for (const auto& [library, bytes] : candidates) {
      if (is_function(op) || !defines(bytes, op)) continue;
      found = true;
      add_once(recording.libraries, library);
      for (const auto& [package, folder] : packages_) {
        if (is_inside(library, folder)) add_package(package, folder);
      }
    }
    // Modules register by the name without an overload.
    for (const std::string& name : {op, op.substr(0, op.find('.', op.find("::")))}) {
      const auto modules = modules_.find(name);
      if (modules == modules_.end()) continue;
      found = true;
      for (const RecordedModule& module : modules->second) add_once(recording.modules, module);
    }
    if (const auto package = packages_.find(namespace_of(op)); !found && package != packages_.end()) {
      found = true;
      add_package(package->first, package->second);
    }
    if (!found) recording.unknown.push_back(op);
  }
}

}  // namespace opgate
