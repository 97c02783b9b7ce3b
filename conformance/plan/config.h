// The configuration of a project, opgate.toml.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "plan/kernel_folder.h"

namespace opgate {

/// How a checkout of the project is built, for `opgate gate --base REF`.
struct BuildRecipe {
  std::string command;           ///< run by the shell in the folder of the configuration; empty for none
  std::filesystem::path folder;  ///< where it puts the libraries, relative to the same folder; empty: where
                                 ///< `libraries` says
};

/// How `opgate mutate` makes and builds mutants. Paths are relative to the folder of the configuration.
struct MutationRecipe {
  std::vector<std::string> sources;  ///< files and folders that have mutants
  std::vector<std::string> without;  ///< names and shell patterns of files that have none
  BuildRecipe build;                 ///< run in a copy of the project; by default the one of the project
  /// Variables for the processes that run mutants, in which {copy} stands for the copy of the project.
  std::map<std::string, std::string> environment;
  std::filesystem::path equivalent;  ///< file of mutants that nothing can notice; empty for none
  double least = 0;                  ///< the least score that `opgate gate` accepts for a change, in percent
};

struct Config {
  std::filesystem::path file;          ///< the opgate.toml itself
  std::vector<std::string> libraries;  ///< operator libraries, loaded first, in this order
  std::vector<std::string> specs;      ///< spec libraries
  std::vector<std::string> modules;    ///< Python modules with specs and models
  std::vector<KernelFolder> kernels;   ///< whose libraries and modules are among the above, too
  /// Folders in which those modules are found, besides the interpreter's own path.
  std::vector<std::filesystem::path> python_path;
  std::vector<std::filesystem::path> library_path;  ///< where a library without a '/' is looked for
  std::filesystem::path output;                     ///< folder of results.jsonl and of the packages
  std::filesystem::path recorded;                   ///< folder of recorded calls; empty for none
  std::filesystem::path regressions;                ///< folder of samples in JSON; empty for none
  std::filesystem::path ledger;                     ///< folder of the accepted state; empty for none
  std::filesystem::path waivers;                    ///< file of exceptions; empty for none
  std::filesystem::path evidence;                   ///< folder of device evidence; empty for none
  std::filesystem::path signers;  ///< file of those whose evidence counts; empty: all evidence counts
  std::vector<std::filesystem::path> sources;   ///< files and folders that every operator is made from
  std::vector<std::filesystem::path> packages;  ///< AOTInductor packages that must go on working
  BuildRecipe build;
  MutationRecipe mutation;
  std::map<std::string, std::string> environment;  ///< variables for checks, not for benchmarks

  std::filesystem::path libraries_from;  ///< a build that all libraries are taken from; empty for none

  /// The file that a library name means. Where libraries_from is given, the file is in it or its lib/. Else
  /// a name with a '/' is a path relative to the folder of the configuration; another name is looked for in
  /// that folder, library_path, OPGATE_LIBRARY_PATH and the `lib` beside the program. Throws SetupError
  /// that lists the folders where it looked.
  std::filesystem::path find_library(const std::string& name) const;

  /// Sets the variables of `environment` for this process and its children, those excepted that are set.
  void apply_environment() const;
};

/// The nearest opgate.toml, from the working directory upwards; none if there is none.
std::optional<std::filesystem::path> nearest_config();

/// Reads `file`; an empty path means the nearest opgate.toml, from the working directory upwards. Relative
/// paths in the file are relative to its folder. Throws SetupError, with file and line where it is not
/// valid.
Config read_config(std::filesystem::path file);

}  // namespace opgate
