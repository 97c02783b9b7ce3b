// Which files of the project the compiler read for each operator: also headers outside of the operator's
// folder.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "plan/config.h"
#include "provenance/build_dependencies.h"
#include "provenance/source_files.h"
#include "spec/specs.h"

namespace opgate {

/// What the compiler read for one operator.
struct FilesRead {
  /// SHA-1 by path, relative to the folder of opgate.toml. Empty if the file is not what was compiled: it is
  /// missing, or newer than all libraries.
  std::map<std::string, std::string> digests;
  std::vector<std::string> not_followed;  ///< what else it may have read, and what to do about it
};

/// Files of the project are those below the nearest .git above opgate.toml, or below the folder of
/// opgate.toml where there is none. Installed packages, OpGate's own headers and what the build generates do
/// not count.
class CompilerInputs {
 public:
  /// `libraries` are those of the operators and of their specs.
  CompilerInputs(const Config& config, const std::vector<std::string>& libraries,
                 const std::vector<Spec>& subjects);

  /// The files of all units that are made from a source in the folder of the operator's spec, or in a place
  /// that the configuration's `sources` names. A unit (an object or a precompiled header) of any other folder
  /// counts where it reads a file of the operator's folder, unless it is made from sources of other operators
  /// alone. For a unit of CMake's unity build, the sources in other operators' folders do not count, and
  /// headers there only if a file that counts names them in an #include.
  /// Precompiled headers count for all operators. A model may call any operator, so it has the files of all.
  FilesRead of(const Spec& subject);

 private:
  enum class Place { project, generated, elsewhere };
  struct File {
    std::filesystem::path path;  // below root_ it may lead through a link, which may lead elsewhere one day
    std::filesystem::path without_links;
    Place place = Place::elsewhere;
    bool is_compiled = false;         // it is no header
    std::vector<std::string> united;  // the sources that it includes, if a unity build has made it
  };
  struct Unit {
    std::vector<const File*> files;
    std::vector<const File*> sources;  // those that are compiled and not generated
    // The sources that a unity build put together in this unit. None of them includes another one.
    std::set<const File*> united;
    bool is_precompiled = false;
  };
  using Folders = std::set<std::filesystem::path>;

  static std::filesystem::path folder_of(const Spec& subject);
  const File& file(const std::string& written);
  Place place_of(const std::filesystem::path& folder);
  bool is_build(const std::filesystem::path& folder) const;
  void add_unit(const DependencyRule& rule);
  bool concerns(const Unit& unit, const Folders& folders) const;
  bool names(const File& one, const File& other);
  std::set<const File*> files_beside(const Unit& unit, const Folders& folders);
  bool is_spec_alone(const Unit& unit, const Folders& folders) const;
  std::string digest_of(const File& file);

  const Config& config_;
  std::filesystem::path folder_;                          // of opgate.toml
  std::filesystem::path root_;                            // of the project
  std::filesystem::path written_root_;                    // the same as the user wrote it, perhaps with links
  std::optional<std::filesystem::file_time_type> built_;  // the newest library
  BuildDependencies build_;
  Folders folders_;  // of all subjects
  Folders shared_;   // the configuration's `sources`
  Folders spec_files_;
  std::unordered_map<std::string, File> files_;  // by path as the build wrote it
  std::map<const File*, std::optional<std::set<std::string>>> includes_;
  std::map<std::filesystem::path, Place> places_;                        // by folder
  std::map<std::filesystem::path, std::filesystem::path> real_folders_;  // without links, by folder
  std::vector<Unit> units_;
  FileDigests digests_;
};

}  // namespace opgate
