// Loads the libraries of operators into a process that is not Python, with what they need besides.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <map>
#include <string>
#include <vector>

namespace opgate {

/// How the libraries of a project are loaded without Python.
struct NativeLibraries {
  /// Those that can be loaded, in an order that gives each one the symbols that it needs. Libraries of
  /// Python, torch and accelerators that they need, and that nothing else has loaded, come before them.
  std::vector<std::string> in_order;
  /// Those that only a Python process can load, and why.
  std::map<std::string, std::string> only_in_python;
};

void to_json(nlohmann::json& json, const NativeLibraries& libraries);
void from_json(const nlohmann::json& json, NativeLibraries& libraries);

/// Loads the libraries in this process, and returns how; load_library() can repeat it in another process.
///
/// Libraries of Python modules expect that the process is Python. Here the interpreter's own shared library,
/// which `interpreter` is asked for, gives them its symbols; Python is never started in it. Where the
/// interpreter has no such library, they end in `only_in_python`. So does one that needs what only its Python
/// module loads, if `modules_may_load`. Where a library lacks a symbol or another library, that of
/// `suppliers` that has it is loaded before. Throws SetupError that names what is missing for all others.
NativeLibraries load_libraries(const std::vector<std::string>& files, const std::string& interpreter,
                               bool modules_may_load, const std::vector<std::string>& suppliers = {});

}  // namespace opgate
