// Finds the libraries and Python modules that define the recorded operators.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <filesystem>
#include <map>
#include <set>
#include <string>

namespace opgate {

struct Recording;

class OperatorOrigins {
 public:
  /// Takes one line of a log: {"torch"}, {"library"}, {"package", "folder"}, or {"op", "module", "file"}.
  void read(const nlohmann::json& line);

  /// Fills in the fields of `recording` that say where its operators come from.
  void find(Recording& recording) const;

 private:
  struct Module {
    std::string name;
    std::filesystem::path file;
  };
  std::set<std::string> torch_;
  std::set<std::filesystem::path> libraries_;
  std::map<std::string, std::filesystem::path> packages_;  // folders, by name
  std::map<std::string, Module> modules_;                  // by operator, for operators written in Python
};

}  // namespace opgate
