// What the Python half says of itself: its checks, operators and models. It takes seconds to import, so that
// what it said is kept, and good for as long as no file that it read has changed.
#pragma once

#include <nlohmann/json.hpp>

#include <filesystem>
#include <optional>
#include <string>

#include "run/child.h"
#include "run/protocol.h"

namespace opgate {

struct PythonHalf {
  nlohmann::json checks;  ///< described; see check_from_json()
  nlohmann::json models;  ///< and operators whose spec is in Python; see spec_from_json()
  std::string torch;      ///< version
  std::string
      sources;  ///< SHA-1 over the packages of the modules that opgate.toml lists, and over OpGate's own
};

/// Reads what a Python worker says when it is ready. Throws SetupError where it is of another OpGate.
PythonHalf python_half_from(const nlohmann::json& said, const std::string& python);

/// What a Python worker of this command and set-up said last time, in the user's cache folder
/// ($XDG_CACHE_HOME/opgate or ~/.cache/opgate). Where neither variable is set, or the folder cannot be
/// written, nothing is kept.
class PythonMemory {
 public:
  PythonMemory(const Command& command, const Setup& setup);

  /// What it said, if every file that it then read is as it was, by size and time of change.
  std::optional<nlohmann::json> recall() const;

  /// Keeps what it said; {"files": {FILE: [bytes, nanoseconds]}} in it is what it read.
  void keep(const nlohmann::json& said) const;

  void forget() const;

 private:
  std::filesystem::path file_;  // empty: nothing is kept
  std::string key_;
};

}  // namespace opgate
