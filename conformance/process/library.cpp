#include "process/library.h"

#include <c10/util/Exception.h>
#include <dlfcn.h>
#include <fmt/format.h>
#include <opgate/error.h>

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

}  // namespace

void load_library(const fs::path& file) {
  if (!fs::exists(file))
    throw SetupError(fmt::format("library {} is missing; build it, or correct its path", file.string()));
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
