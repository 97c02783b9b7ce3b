// The shared library of a Python interpreter, for libraries of operators that need Python's symbols.
#pragma once

#include <filesystem>
#include <string>

namespace opgate {

struct PythonLibrary {
  std::filesystem::path file;  ///< empty if there is none
  std::string why_not;         ///< why there is none, in words for the user
};

/// The shared library of the interpreter, such as libpython3.11.so.1.0, which `interpreter` itself is asked
/// for. An interpreter that is linked statically may have none. Asks once for each interpreter.
const PythonLibrary& python_library(const std::string& interpreter);

/// Whether Python defines the symbol: "PyLong_FromLong", "_Py_Dealloc".
bool is_symbol_of_python(const std::string& symbol);

}  // namespace opgate
