#include "process/libraries/library.h"

#include <c10/util/Exception.h>
#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include <opgate_sim/loaded.h>
#include "base/errors.h"
#include "device/accelerator.h"

namespace opgate {
namespace fs = std::filesystem;
namespace {

// Drops PyTorch's warning about a library that registers a kernel over another one: it would come from
// every process, and the check registration.kernels reports the kernel once, with its place.
class WithoutOverrides : public c10::WarningHandler {
 public:
  void process(const c10::Warning& warning) override {
    if (warning.msg().find("previously registered kernel") == std::string::npos)
      c10::WarningHandler::process(warning);
  }
};

// A new system library is a new machine, and the results say which machine they are of.
constexpr std::array<std::string_view, 4> kSystemFolders{"/lib/", "/lib64/", "/usr/lib/", "/usr/lib64/"};

// Where torch's libraries lie, and those of accelerators that each torch pins. The version of torch stands
// for them: together they have gigabytes, which a library made with find_package(Torch) links.
std::vector<std::string> folders_of_torch() {
  std::vector<std::string> folders{(torch_folder() / "").string()};
  for (const Accelerator* const each : accelerators()) {
    for (const fs::path& folder : each->library_folders()) folders.push_back((folder / "").string());
  }
  return folders;
}

std::set<fs::path> loaded_files() {
  std::set<fs::path> files;
  dl_iterate_phdr(
      [](dl_phdr_info* object, size_t, void* all) {
        const std::string_view name = object->dlpi_name;
        if (name.starts_with('/')) static_cast<std::set<fs::path>*>(all)->insert(fs::weakly_canonical(name));
        return 0;
      },
      &files);
  return files;
}

const std::set<fs::path>& loaded_before() {
  static const std::set<fs::path> files = loaded_files();
  return files;
}

struct Loaded {
  fs::path file;
  void* handle;
  bool lends = false;  // its symbols are those of the process
};

// In the order in which they were loaded. They are never closed.
std::vector<Loaded>& loaded_libraries() {
  static std::vector<Loaded> libraries;
  return libraries;
}

// Makes the symbols of the first library that has this one known to those that are loaded after it. False if
// there is none.
bool lend(const std::string& symbol) {
  for (Loaded& library : loaded_libraries()) {
    if (library.lends || symbol.empty() || dlsym(library.handle, symbol.c_str()) == nullptr) continue;
    library.lends = dlopen(library.file.c_str(), RTLD_NOW | RTLD_NOLOAD | RTLD_GLOBAL) != nullptr;
    if (library.lends) return true;
  }
  return false;
}

}  // namespace

fs::path torch_folder() {
  Dl_info info{};
  dladdr(dlsym(RTLD_DEFAULT, "aoti_torch_delete_tensor_object"), &info);
  return fs::weakly_canonical(info.dli_fname).parent_path();
}

std::vector<fs::path> files_loaded_with_libraries() {
  std::vector<fs::path> files;
  std::ranges::set_difference(loaded_files(), loaded_before(), std::back_inserter(files));
  static const std::vector<std::string> torch = folders_of_torch();
  std::erase_if(files, [](const fs::path& file) {
    const auto holds_it = [&](std::string_view folder) { return file.native().starts_with(folder); };
    return std::ranges::any_of(kSystemFolders, holds_it) || std::ranges::any_of(torch, holds_it);
  });
  return files;
}

std::optional<LoadFailure> try_load(const fs::path& file) {
  loaded_before();
  if (!fs::exists(file))
    throw setup_error("library {} is missing; build it, or correct its path", file.string());
  WithoutOverrides handler;
  const c10::WarningUtils::WarningHandlerGuard warnings(&handler);
  // Before the library does the same.
  if (const auto replace = OPGATE_SIMULATED(opgate_sim_replace_kernels_of_torch)) replace();

  while (true) {
    try {
      // Local, as torch.ops.load_library() has it: where two libraries define the same function, each calls
      // its own.
      if (void* const handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL)) {
        loaded_libraries().push_back({file, handle});
        return std::nullopt;
      }
    } catch (const c10::Error& error) {  // raised by the library's own registrations
      throw setup_error("library {} fails while it registers its operators: {}", file.string(),
                        error.what_without_backtrace());
    }
    LoadFailure failure = load_failure(dlerror());
    if (!lend(failure.symbol)) return failure;
  }
}

bool lends_symbols(const fs::path& file) {
  return std::ranges::any_of(loaded_libraries(),
                             [&](const Loaded& library) { return library.file == file && library.lends; });
}

void load_library(const fs::path& file) {
  if (const auto failure = try_load(file)) throw SetupError(explained(*failure, file));
}

}  // namespace opgate
