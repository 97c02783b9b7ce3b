#include "process/libraries/python_library.h"

#include <fmt/format.h>

#include <map>
#include <sstream>

#include "process/run_program.h"

namespace opgate {
namespace {

namespace fs = std::filesystem;

// Prints the interpreter's version, and the files that its shared library may be. A static interpreter may be
// shipped with a shared library all the same.
constexpr const char* kAsk = R"(
import sys, sysconfig
print("%d.%d" % sys.version_info[:2])
folders = [sysconfig.get_config_var("LIBDIR"), sys.base_prefix + "/lib"]
folders.append(str(folders[0]) + "/" + str(sysconfig.get_config_var("MULTIARCH")))
names = [sysconfig.get_config_var("INSTSONAME"), "libpython%d.%d.so.1.0" % sys.version_info[:2]]
for folder in folders:
    for name in names:
        if folder and name and ".so" in name:
            print(folder + "/" + name)
)";

PythonLibrary find(const std::string& interpreter) {
  const std::string said = output_of({{interpreter, "-S", "-c", kAsk}});
  std::istringstream lines(said);
  std::string version;
  if (!std::getline(lines, version)) return {"", fmt::format("{} cannot be run", interpreter)};
  for (std::string file; std::getline(lines, file);) {
    if (fs::exists(file)) return {file, ""};
  }
  return {"",
          fmt::format("{} is linked statically, and libpython{}.so is not installed", interpreter, version)};
}

}  // namespace

const PythonLibrary& python_library(const std::string& interpreter) {
  static std::map<std::string, PythonLibrary> known;
  const auto [entry, is_new] = known.try_emplace(interpreter);
  if (is_new) entry->second = find(interpreter);
  return entry->second;
}

bool is_symbol_of_python(const std::string& symbol) {
  return symbol.starts_with("Py") || symbol.starts_with("_Py");
}

}  // namespace opgate
