// How a new process gets the operators of a recorded program: in which order it loads their libraries, and
// which modules of Python it imports.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "cli/recording/collect_recordings.h"
#include "run/python/programs.h"

namespace opgate {

/// The libraries of operators, and before each of them those of `loaded` that it needs and does not find by
/// itself, which the program's Python modules had loaded. They are tried in a child process. One that cannot
/// be loaded stays as it is: `opgate run` reports why.
std::vector<std::filesystem::path> libraries_with_needs(const Recording& recording);

struct ImportableModules {
  std::vector<std::string> modules;
  std::vector<std::filesystem::path> python_path;  ///< folders where Python does not look by itself
  std::map<std::string, std::string> environment;  ///< variables without which an import fails
  std::map<std::string, std::string> failed;       ///< why a module cannot be imported, by its name
};

/// Imports the modules in a process of `programs`' Python, as workers will, and returns what they need for
/// it.
ImportableModules importable_modules(const Recording& recording, const Programs& programs);

}  // namespace opgate
