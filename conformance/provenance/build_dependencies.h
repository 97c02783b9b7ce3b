// What the compiler read for the objects of a project's libraries, as the folders of their builds say it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "plan/config.h"
#include "provenance/dependency_rules.h"

namespace opgate {

struct BuildDependencies {
  std::vector<std::filesystem::path> folders;  ///< of the builds
  std::vector<DependencyRule> rules;           ///< their paths are absolute
  std::vector<std::string> gaps;               ///< which dependencies could not be read, and what to do
};

/// Where `file` is, for a message: relative to the folder of opgate.toml, if it is in there.
std::string shown_path(const std::filesystem::path& file, const Config& config);

/// The folder of a library's build is the nearest one above it with a build.ninja or CMakeCache.txt; without
/// such a folder, it is the one that `build` in opgate.toml names, or else the folder of the library itself,
/// if that is in the project. Runs ninja where a build has a .ninja_deps. Throws Interrupted.
BuildDependencies read_build_dependencies(const Config& config, const std::vector<std::string>& libraries);

}  // namespace opgate
