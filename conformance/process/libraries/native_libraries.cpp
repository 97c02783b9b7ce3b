#include "process/libraries/native_libraries.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <opgate/error.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/files/files.h"
#include "base/json_fields.h"
#include "device/accelerator.h"
#include "process/libraries/library.h"
#include "process/libraries/python_library.h"

namespace opgate {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPythonHalf = "libtorch_python.so";  // a PYBIND11_MODULE with tensors needs it

// The libraries of torch that `opgate` is not linked with, and that define what others may need.
std::vector<std::string> further_torch_libraries() {
  std::vector<std::string> names{std::string(kPythonHalf)};
  for (const Accelerator* const each : accelerators()) {
    for (std::string& name : each->torch_libraries()) names.push_back(std::move(name));
  }
  return names;
}

// Folders of the libraries that those of torch need.
std::vector<fs::path> accelerator_folders() {
  std::vector<fs::path> folders;
  for (const Accelerator* const each : accelerators()) {
    for (fs::path& folder : each->library_folders()) folders.push_back(std::move(folder));
  }
  return folders;
}

class Loader {
 public:
  Loader(std::vector<std::string> files, const std::string& interpreter, bool modules_may_load,
         const std::vector<std::string>& suppliers)
      : waiting_(std::move(files)),
        interpreter_(interpreter),
        modules_may_load_(modules_may_load),
        suppliers_(suppliers) {}

  NativeLibraries load() {
    // A library may need one that is listed after it, so those that cannot be loaded are tried again after
    // the others.
    for (bool progress = true; progress && !waiting_.empty();) {
      progress = false;
      failures_.clear();
      for (const std::string& file : std::exchange(waiting_, {})) {
        if (load_with_needs(file))
          progress = true;
        else if (!found_.only_in_python.contains(file))
          waiting_.push_back(file);
      }
    }
    for (const std::string& file : waiting_) {
      const LoadFailure& failure = failures_.at(file);
      // No module of Python brings symbols of another torch.
      if (!modules_may_load_ || is_symbol_of_torch(failure.symbol) ||
          is_symbol_of_accelerator(failure.symbol))
        throw SetupError(explained(failure, file));
      found_.only_in_python[file] = failure.symbol.empty()
                                        ? fmt::format("it needs {}, which is not found", failure.library)
                                        : fmt::format("it needs the symbol {}", failure.symbol);
    }
    return std::move(found_);
  }

 private:
  // Loads the library, after the libraries of Python, torch and accelerators that it asks for.
  bool load_with_needs(const std::string& file) {
    while (true) {
      const std::optional<LoadFailure> failure = try_load(file);
      if (!failure) {
        found_.in_order.push_back(file);
        return true;
      }
      if (failure->symbol.empty() && failure->library.empty()) throw SetupError(explained(*failure, file));
      const bool helped =
          failure->symbol.empty() ? find_library(file, failure->library) : find_symbol(file, failure->symbol);
      if (!helped) {
        failures_[file] = *failure;
        return false;
      }
    }
  }

  bool find_symbol(const std::string& file, const std::string& symbol) {
    if (is_symbol_of_python(symbol)) return add_python(file);
    for (const std::string& name : further_torch_libraries()) {
      const fs::path library = torch_folder() / name;
      if (tried_.contains(library) || content_of(library).find(symbol) == std::string::npos) continue;
      if (name == kPythonHalf && !add_python(file)) return false;
      if (add(library)) return true;
    }
    return std::ranges::any_of(suppliers_, [&](const std::string& supplier) {
      return supplier != file && content_of(supplier).find(symbol) != std::string::npos && add(supplier);
    });
  }

  bool find_library(const std::string& file, const std::string& name) {
    if (name.starts_with("libpython") || name == kPythonHalf) {
      if (!add_python(file)) return false;
      if (name.starts_with("libpython")) return false;  // of another version, or it would have been found
    }
    if (add(torch_folder() / name)) return true;
    const auto is_it = [&](const fs::path& supplier) { return supplier.filename() == name && add(supplier); };
    if (std::ranges::any_of(suppliers_, is_it)) return true;
    return std::ranges::any_of(accelerator_folders(),
                               [&](const fs::path& folder) { return add(folder / name); });
  }

  bool add_python(const std::string& file) {
    const PythonLibrary& python = python_library(interpreter_);
    if (!python.file.empty()) return add(python.file) || is_added(python.file);
    found_.only_in_python[file] = fmt::format("it needs Python's symbols, and {}", python.why_not);
    return false;
  }

  bool is_added(const fs::path& library) const {
    return std::ranges::find(found_.in_order, library.string()) != found_.in_order.end();
  }

  // Returns false if the library does not exist, cannot be loaded, or has been tried before.
  bool add(const fs::path& library) {
    if (!tried_.insert(library).second || !fs::exists(library) || try_load(library)) return false;
    found_.in_order.push_back(library);
    return true;
  }

  std::vector<std::string> waiting_;
  const std::string interpreter_;
  const bool modules_may_load_;
  const std::vector<std::string>& suppliers_;
  std::set<fs::path> tried_;
  std::map<std::string, LoadFailure> failures_;
  NativeLibraries found_;
};

}  // namespace

OPGATE_JSON_FIELDS(NativeLibraries, in_order, only_in_python)

NativeLibraries load_libraries(const std::vector<std::string>& files, const std::string& interpreter,
                               bool modules_may_load, const std::vector<std::string>& suppliers) {
  // What this process has loaded needs nothing any more, so that a second Loader would find no needs.
  using Question = std::tuple<std::vector<std::string>, std::string, bool, std::vector<std::string>>;
  static std::map<Question, NativeLibraries> known;
  const Question question{files, interpreter, modules_may_load, suppliers};
  if (const auto found = known.find(question); found != known.end()) return found->second;
  return known[question] = Loader(files, interpreter, modules_may_load, suppliers).load();
}

}  // namespace opgate
