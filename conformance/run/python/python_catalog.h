// What the Python half describes: its checks, operators and models. The Python half takes seconds to
// import, so its description is cached, and stays valid for as long as no file that it read has changed.
#pragma once

#include <nlohmann/json.hpp>

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "process/child_process.h"
#include "run/worker/protocol.h"
#include "spec/registration.h"

namespace opgate {

struct PythonCatalog {
  nlohmann::json checks;  ///< see check_from_json()
  nlohmann::json models;  ///< models, and operators whose spec is in Python; see spec_from_json()
  OpRegistrations
      registered;  ///< of all operators, with the modules that opgate.toml lists; empty without any
  PythonKernels python_kernels;        ///< of `registered`, what this process does not have
  std::vector<std::string> operators;  ///< those that the modules of opgate.toml define
  std::string torch;                   ///< version
  /// SHA-1 over the packages of the modules that opgate.toml lists, and over OpGate's own.
  std::string sources;
  /// By name: the Python files of the packages of those modules, and of the project's other modules that they
  /// import.
  std::map<std::string, std::string> modules;
  std::vector<std::string> files_read;  ///< by those modules, beside modules; and those looked for in vain
  std::map<std::string, std::string> variables_read;  ///< ModuleInputs::variables
};

/// Reads `said`, which a Python worker sends when it is ready. `python` is the interpreter, for the
/// message. Throws SetupError if the worker belongs to another version of OpGate.
PythonCatalog python_catalog_from(const nlohmann::json& said, const std::string& python);

/// Caches what a Python worker of this command and set-up said, in the user's cache folder
/// ($XDG_CACHE_HOME/opgate or ~/.cache/opgate). Where neither XDG_CACHE_HOME nor HOME is set, or the folder
/// cannot be written, nothing is cached.
class PythonCatalogCache {
 public:
  PythonCatalogCache(const Command& command, const Setup& setup);

  /// What the worker said last time; none if a file that it then read has another size or modification
  /// time, or a variable another value.
  std::optional<nlohmann::json> recall() const;

  /// Caches `said`. Its entry {"files": {FILE: [bytes, nanoseconds]}} lists the files that the worker read.
  void keep(const nlohmann::json& said) const;

  void forget() const;

 private:
  Command command_;
  std::filesystem::path file_;  // empty: nothing is cached
  std::string key_;
};

}  // namespace opgate
