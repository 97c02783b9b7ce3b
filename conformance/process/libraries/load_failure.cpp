#include "process/libraries/load_failure.h"

#include <cxxabi.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <string_view>

#include "base/build.h"
#include "device/device.h"
#include "process/libraries/python_library.h"

namespace opgate {
namespace {

constexpr std::string_view kUndefined = "undefined symbol: ";
constexpr std::string_view kNotFound = ": cannot open shared object file";

std::string demangled(const std::string& symbol) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status), &std::free);
  return text ? text.get() : symbol;
}

template <size_t N>
bool begins_with_any(std::string_view text, const std::array<std::string_view, N>& beginnings) {
  return std::ranges::any_of(beginnings, [&](std::string_view begin) { return text.starts_with(begin); });
}

const Accelerator* accelerator_with_symbol(const std::string& symbol) {
  const std::string name = demangled(symbol);
  return find_accelerator([&](const Accelerator& each) { return each.has_symbol(symbol, name); });
}

std::string remedy_for_symbol(const std::string& symbol) {
  if (is_symbol_of_python(symbol))
    return "Python should define it: install the shared library of the interpreter (such as libpython3.11), "
           "or name the Python module that loads this library in `python` of opgate.toml";
  if (const Accelerator* const owner = accelerator_with_symbol(symbol))
    return fmt::format(
        "{0} or the {0} half of torch should define it, and this torch has none, or of another version: "
        "install the torch that the library was built with, or build it without {0}",
        device_title(owner->type()));
  if (is_symbol_of_torch(symbol))
    return fmt::format(
        "torch should define it, and the torch {} here does not: the library was built for another version "
        "or build of torch; rebuild it with the torch in this environment",
        kTorchVersion);
  return "neither torch nor Python defines symbols of this name, so another library should: name that one "
         "in `libraries` of opgate.toml, or link this one with it";
}

std::string remedy_for_library(const std::string& name) {
  if (begins_with_any(name, std::array<std::string_view, 2>{"libtorch", "libc10"}))
    return fmt::format(
        "it belongs to torch, and the torch {} here has no such file: rebuild the library with the torch in "
        "this environment",
        kTorchVersion);
  const Accelerator* const owner =
      find_accelerator([&](const Accelerator& each) { return each.has_library(name); });
  if (owner != nullptr)
    return fmt::format(
        "it belongs to {0}: install the {0} version that the library was built with, or build it without {0}",
        device_title(owner->type()));
  if (name.starts_with("libpython"))
    return "it belongs to Python: install the shared library of that version of Python, or rebuild the "
           "library with the Python in this environment";
  return "name its path in `libraries` of opgate.toml before this one, or put its folder into "
         "LD_LIBRARY_PATH";
}

}  // namespace

LoadFailure load_failure(const std::string& said) {
  LoadFailure failure{said, "", ""};
  if (const size_t at = said.find(kUndefined); at != std::string::npos) {
    const size_t begin = at + kUndefined.size();
    failure.symbol = said.substr(begin, said.find_first_of(", ", begin) - begin);
  } else if (const size_t end = said.find(kNotFound); end != std::string::npos) {
    const std::string name = said.substr(0, end);
    failure.library = name.substr(name.rfind('/') + 1);
  }
  return failure;
}

bool is_symbol_of_torch(const std::string& symbol) {
  const std::string name = demangled(symbol);
  return begins_with_any(symbol, std::array<std::string_view, 3>{"aoti_torch_", "torch_", "THP"}) ||
         name.find("c10::") != std::string::npos || name.find("at::") != std::string::npos ||
         name.find("torch::") != std::string::npos || name.find("caffe2::") != std::string::npos;
}

bool is_symbol_of_accelerator(const std::string& symbol) {
  return accelerator_with_symbol(symbol) != nullptr;
}

std::string explained(const LoadFailure& failure, const std::filesystem::path& file) {
  if (!failure.symbol.empty()) {
    return fmt::format("library {} cannot be loaded: nothing defines its symbol {}. {}", file.string(),
                       demangled(failure.symbol), remedy_for_symbol(failure.symbol));
  }
  if (!failure.library.empty()) {
    return fmt::format("library {} cannot be loaded: it needs {}, which is not found; {}", file.string(),
                       failure.library, remedy_for_library(failure.library));
  }
  if (failure.said.find("' not found (required by") != std::string::npos) {
    return fmt::format(
        "library {} cannot be loaded: {}. It was built on a system with newer libraries: rebuild it here",
        file.string(), failure.said);
  }
  return fmt::format("library {} cannot be loaded: {}", file.string(), failure.said);
}

}  // namespace opgate
