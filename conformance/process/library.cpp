#include "process/library.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/util/Exception.h>
#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>
#include <opgate/error.h>

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

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

// Names that have a kernel and no schema are left out: no library has defined them yet.
std::set<std::string> defined_operators() {
  std::set<std::string> names;
  c10::Dispatcher& dispatcher = c10::Dispatcher::singleton();
  for (const c10::OperatorName& name : dispatcher.getAllOpNames()) {
    if (dispatcher.findSchema(name)) names.insert(c10::toString(name));
  }
  return names;
}

std::set<std::string>& defined_by_libraries() {
  static std::set<std::string> names;
  return names;
}

// Adds what is defined between construction and destruction to defined_by_libraries(). What a process defines before
// and after it loads a library, such as the schemas of operators in Python, is not the library's.
class NewOperators {
 public:
  NewOperators() : before_(defined_operators()) {}
  ~NewOperators() {
    std::ranges::set_difference(defined_operators(), before_,
                                std::inserter(defined_by_libraries(), defined_by_libraries().end()));
  }
  NewOperators(const NewOperators&) = delete;
  NewOperators& operator=(const NewOperators&) = delete;

 private:
  const std::set<std::string> before_;
};

}  // namespace

const std::set<std::string>& operators_of_libraries() { return defined_by_libraries(); }

std::vector<fs::path> files_loaded_with_libraries() {
  std::vector<fs::path> files;
  std::ranges::set_difference(loaded_files(), loaded_before(), std::back_inserter(files));
  std::erase_if(files, [](const fs::path& file) {
    return std::ranges::any_of(kSystemFolders,
                               [&](std::string_view folder) { return file.native().starts_with(folder); });
  });
  return files;
}

void load_library(const fs::path& file) {
  loaded_before();
  if (!fs::exists(file))
    throw SetupError(fmt::format("library {} is missing; build it, or correct its path", file.string()));
  const NewOperators defined;
  WithoutOverrides handler;
  const c10::WarningUtils::WarningHandlerGuard warnings(&handler);

  try {
    if (dlopen(file.c_str(), RTLD_NOW | RTLD_GLOBAL) != nullptr) return;
  } catch (const c10::Error& error) {  // raised by the library's own registrations
    throw SetupError(fmt::format("library {} fails while it registers its operators: {}", file.string(),
                                 error.what_without_backtrace()));
  }
  throw SetupError(
      fmt::format("library {} cannot be loaded: {}. If a symbol is undefined, the library was built for "
                  "another torch than this OpGate: rebuild it",
                  file.string(), dlerror()));
}

}  // namespace opgate
