// Where recorded operators come from: the libraries and Python modules of the processes that called them.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <filesystem>
#include <map>
#include <set>
#include <string>

namespace opgate {

struct Recording;

class Origins {
 public:
  /// A line of a log: {"torch"}, {"library"}, {"package", "folder"}, {"op", "module", "file"}.
  void read(const nlohmann::json& line);

  /// Fills in what says where the recording's operators come from.
  void find(Recording& recording) const;

 private:
  struct Module {
    std::string name;
    std::filesystem::path file;
  };
  std::set<std::string> torch_;
  std::set<std::filesystem::path> libraries_;
  std::map<std::string, std::filesystem::path> packages_;  // folder, by name
  std::map<std::string, Module> modules_;                  // of operators that are written in Python
};

}  // namespace opgate
