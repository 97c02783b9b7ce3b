// Finds the libraries and Python modules that define the recorded operators.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "cli/recording/collect_recordings.h"
#include "spec/schema/registered_name.h"

namespace opgate {

class OperatorOrigins {
 public:
  /// Takes one line of a log: {"torch"}, {"library"}, {"package", "folder"}, {"op", "module", "file"},
  /// {"program", "file"}, or {"variable", "value"}.
  void read(const nlohmann::json& line);

  /// The namespaces of the kernels among the packages that were read.
  BuiltNamespaces built_namespaces() const;

  /// Fills in the fields of `recording` that say where its operators come from.
  void find(Recording& recording) const;

 private:
  void read_package(const std::string& name, const std::filesystem::path& folder);

  /// Whether a kernel's build defines the operator or function, which it then adds to the recording.
  bool is_of_kernel(const std::string& op, Recording& recording) const;

  std::set<std::string> torch_;
  std::set<std::filesystem::path> libraries_;
  std::map<std::string, std::filesystem::path> packages_;  // folders, by name
  /// By operator: those that define it, or register a kernel or a fake kernel of it, from Python.
  std::map<std::string, std::vector<RecordedModule>> modules_;
  std::vector<KernelFolder> kernels_;
  std::vector<RecordedModule> program_;
  std::map<std::string, std::string> environment_;
};

}  // namespace opgate
