// Files that operators are made from: where they lie, and digests of their contents.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace opgate {

struct Spec;

/// Whether `file` is `folder` or lies below it. Compares the paths as they are written.
bool is_within(const std::filesystem::path& file, const std::filesystem::path& folder);

/// Whether installed packages lie in the folder: a virtual environment, a conda environment, site-packages.
bool is_environment(const std::filesystem::path& folder);

/// Whether the name is that of a file that a compiler makes an object from, not of a header.
bool is_compiled(const std::filesystem::path& file);

/// For a spec at "ops/add/spec.cpp:7", the absolute path of ops/add/spec.cpp; empty if the file is not on
/// this machine.
std::filesystem::path file_of(const Spec& subject);

/// When the newest of the libraries was written; none if there are no libraries.
std::optional<std::filesystem::file_time_type> time_of_newest(const std::vector<std::string>& libraries);

/// SHA-1 of each file, computed when it is first asked for.
class FileDigests {
 public:
  /// Empty for a file that cannot be read.
  const std::string& of(const std::filesystem::path& file);

 private:
  std::map<std::filesystem::path, std::string> digests_;
};

}  // namespace opgate
