#include "provenance/build_dependencies.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <sstream>

#include "base/files/files.h"
#include "process/run_program.h"
#include "provenance/source_files.h"
#include "provenance/walk.h"

namespace opgate {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kFolderRule = "evidence follows the folder of the operator and `sources` only";

// The nearest folder, from `folder` upwards, that has one of these files; empty if none has.
fs::path nearest_with(fs::path folder, std::initializer_list<const char*> names) {
  for (;; folder = folder.parent_path()) {
    if (std::ranges::any_of(names, [&](const char* name) { return fs::exists(folder / name); }))
      return folder;
    if (folder == folder.root_path()) return {};
  }
}

std::set<fs::path> build_folders(const Config& config, const std::vector<std::string>& libraries) {
  const fs::path project = config.file.parent_path();
  const fs::path named = config.build.folder.empty() ? fs::path() : project / config.build.folder;
  std::set<fs::path> folders;
  bool found_all = !libraries.empty();
  for (const std::string& library : libraries) {
    const fs::path place = fs::canonical(library).parent_path();
    if (const fs::path build = nearest_with(place, {"build.ninja", "CMakeCache.txt"}); !build.empty()) {
      folders.insert(build);
    } else {
      found_all = false;
      if (named.empty() && is_within(place, fs::canonical(project))) folders.insert(place);
    }
  }
  if (!found_all && fs::is_directory(named)) folders.insert(fs::canonical(named));
  return folders;
}

bool is_on_path(const std::string& program) {
  const char* variable = std::getenv("PATH");
  std::istringstream entries(variable == nullptr ? "" : variable);
  for (std::string entry; std::getline(entries, entry, ':');) {
    if (::access((fs::path(entry) / program).c_str(), X_OK) == 0) return true;
  }
  return false;
}

// A *.d file does not say where its relative paths begin. It is the folder, from that of the file upwards, in
// which most of the rule's files exist.
fs::path base_of(const DependencyRule& rule, fs::path folder) {
  fs::path best = folder;
  for (std::ptrdiff_t most = 0;; folder = folder.parent_path()) {
    const std::ptrdiff_t found = std::ranges::count_if(
        rule.files, [&](const fs::path& file) { return file.is_relative() && fs::exists(folder / file); });
    if (found > most) {
      most = found;
      best = folder;
    }
    if (folder == folder.root_path()) return best;
  }
}

DependencyRule absolute(DependencyRule rule, const fs::path& base) {
  rule.output = base / rule.output;
  for (std::string& file : rule.files) {
    if (!file.starts_with('/')) file = base / file;
  }
  return rule;
}

class Reader {
 public:
  explicit Reader(const Config& config) : config_(config) {}

  BuildDependencies read(const std::vector<std::string>& libraries) {
    const std::set<fs::path> folders = build_folders(config_, libraries);
    found_.folders.assign(folders.begin(), folders.end());
    for (const fs::path& folder : found_.folders) read_folder(folder);
    if (folders.empty()) {
      found_.gaps.push_back(
          fmt::format("no folder of a build is known, add one to `build` in opgate.toml: {}", kFolderRule));
    }
    return std::move(found_);
  }

 private:
  void read_folder(const fs::path& folder) {
    const auto known = std::pair(found_.rules.size(), found_.gaps.size());
    walk(folder, [&](const fs::directory_entry& entry) {
      const fs::path& place = entry.path();
      if (entry.is_symlink()) return false;
      if (entry.is_directory()) return !is_environment(place) && place.filename() != ".git";
      if (place.filename() == ".ninja_deps") {
        read_ninja(place);
      } else if (place.extension() == ".d" && entry.is_regular_file()) {
        read_makefile(place);
      }
      return false;
    });
    if (known == std::pair(found_.rules.size(), found_.gaps.size())) {
      found_.gaps.push_back(fmt::format("no dependency files (.ninja_deps, *.d) were found in {}/: {}",
                                        shown_path(folder, config_), kFolderRule));
    }
  }

  void read_makefile(const fs::path& file) {
    for (DependencyRule& rule : rules_of_makefile(content_of(file))) {
      rule = absolute(std::move(rule), base_of(rule, file.parent_path()));
      // An object whose source is gone was left over by an earlier build.
      const bool whole = std::ranges::all_of(
          rule.files, [](const std::string& read) { return !is_compiled(read) || fs::exists(read); });
      if (whole) found_.rules.push_back(std::move(rule));
    }
  }

  void read_ninja(const fs::path& file) {
    if (!is_on_path("ninja")) {
      found_.gaps.push_back(
          fmt::format("{} cannot be read, because there is no `ninja` on the path; install it (pip install "
                      "ninja) and run again: {}",
                      shown_path(file, config_), kFolderRule));
      return;
    }
    const fs::path manifest = nearest_with(file.parent_path(), {"build.ninja"});
    const fs::path folder = manifest.empty() ? file.parent_path() : manifest;
    const fs::path log = config_.output / "dependencies.txt";
    // -n, so that ninja does not open its logs for writing.
    const int status = run_to_end({{"ninja", "-n", "-t", "deps"}}, folder, log, Errors::logged);
    if (status == 0) {
      for (DependencyRule& rule : rules_of_ninja(content_of(log)))
        found_.rules.push_back(absolute(std::move(rule), folder));
    } else {
      found_.gaps.push_back(fmt::format(
          "`ninja -n -t deps` in {}/ ended with {} ({}), correct it and run again: {}",
          shown_path(folder, config_), ending(status), fmt::join(last_lines(log, 1), ""), kFolderRule));
    }
    fs::remove(log);
  }

  const Config& config_;
  BuildDependencies found_;
};

}  // namespace

std::string shown_path(const fs::path& file, const Config& config) {
  const fs::path project = fs::weakly_canonical(config.file.parent_path());
  return is_within(file, project) ? file.lexically_relative(project).string() : file.string();
}

BuildDependencies read_build_dependencies(const Config& config, const std::vector<std::string>& libraries) {
  return Reader(config).read(libraries);
}

}  // namespace opgate
