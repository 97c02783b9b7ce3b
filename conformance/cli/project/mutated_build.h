// The build of a project's libraries with mutants, which the Python half makes in a copy of the project.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "mutation/mutant.h"
#include "plan/config.h"

namespace opgate {

/// Which mutants are made.
struct MutantChoice {
  std::vector<std::string> sources;  ///< files and folders; by default those of the configuration
  std::vector<std::string> without;  ///< names and patterns of files, besides those of the configuration
  std::vector<std::string> kinds;    ///< by default all
  std::string diff;                  ///< only of lines that differ from this git revision; empty: all
  size_t most = 0;                   ///< so many are drawn; 0: all
  uint64_t seed = 0;                 ///< of the draw
  std::set<std::string> of_others;   ///< files of operators that are not chosen, which are left alone
  std::vector<std::string> devices;  ///< on which they run, for the build command; by default all
};

struct MutatedBuild {
  std::vector<Mutant> mutants;
  std::vector<Mutant> refused;                             ///< by the compiler
  std::map<std::string, std::vector<int>> not_understood;  ///< lines without mutants, by file
  size_t sources = 0;
  bool in_libraries = false;                       ///< whether some are in libraries, so that they were built
  std::map<std::string, std::string> environment;  ///< by which workers find the others
  std::filesystem::path copy;                      ///< of the project, in which they were built
  std::filesystem::path libraries;  ///< folder with the libraries of the configuration, for --build
};

/// Makes the mutants and builds those of libraries below `config.output`. Throws SetupError and Interrupted.
MutatedBuild build_mutants(const Config& config, const MutantChoice& choice);

}  // namespace opgate
