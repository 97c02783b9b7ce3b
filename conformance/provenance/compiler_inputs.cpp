#include "provenance/compiler_inputs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <fstream>

#include "provenance/include_names.h"
#include "spec/spec.h"

namespace opgate {
namespace {

namespace fs = std::filesystem;

constexpr size_t kNamed = 3;  // files that a message names

fs::path root_above(const fs::path& folder) {
  for (fs::path place = folder;; place = place.parent_path()) {
    if (fs::exists(place / ".git")) return place;
    if (place == place.root_path()) return folder;
  }
}

bool is_precompiled(const fs::path& output) {
  return output.extension() == ".gch" || output.extension() == ".pch";
}

// OpGate's own headers, which the digest of the engine covers.
bool is_own_headers(const fs::path& folder) {
  return folder.filename() == "opgate" && folder.parent_path().filename() == "include";
}

std::string generated_gap(const std::set<std::string>& generated) {
  std::vector<std::string> named(generated.begin(), generated.end());
  const size_t others = named.size() > kNamed ? named.size() - kNamed : 0;
  named.resize(named.size() - others);
  const bool is_one = generated.size() == 1;
  return fmt::format(
      "{}{} {} in the folder of the build and not in the checkout: `sources` must name what {} made from",
      fmt::join(named, ", "), others == 0 ? "" : fmt::format(" and {} more", others), is_one ? "is" : "are",
      is_one ? "it is" : "they are");
}

// The sources that CMake's unity build includes in a file that it generates, as that file names them: it has
// an #include for each of them, and otherwise comments and macros. Empty for any other source.
std::vector<std::string> united_sources(const fs::path& file) {
  std::vector<std::string> sources;
  if (std::ranges::find(file, fs::path("CMakeFiles")) == file.end()) return sources;
  std::ifstream text(file);
  for (std::string line; std::getline(text, line);) {
    constexpr std::string_view kInclude = "#include \"";
    if (line.starts_with(kInclude) && line.ends_with('"'))
      sources.push_back(line.substr(kInclude.size(), line.size() - kInclude.size() - 1));
  }
  return sources;
}

bool lies_in(const fs::path& file, const std::set<fs::path>& folders) {
  return std::ranges::any_of(
      folders, [&](const fs::path& folder) { return !folder.empty() && is_within(file, folder); });
}

}  // namespace

CompilerInputs::CompilerInputs(const Config& config, const std::vector<std::string>& libraries,
                               const std::vector<Spec>& subjects)
    : config_(config),
      folder_(fs::weakly_canonical(config.file.parent_path())),
      written_root_(root_above(config.file.parent_path())),
      built_(time_of_newest(libraries)),
      build_(read_build_dependencies(config, libraries)) {
  root_ = fs::weakly_canonical(written_root_);
  for (const Spec& subject : subjects) {
    folders_.insert(folder_of(subject));
    spec_files_.insert(folder_of(subject) / file_of(subject).filename());
  }
  for (const fs::path& place : config.sources) shared_.insert(fs::weakly_canonical(place));
  for (const DependencyRule& rule : build_.rules) add_unit(rule);
}

fs::path CompilerInputs::folder_of(const Spec& subject) {
  const fs::path spec = file_of(subject);
  return spec.empty() ? fs::path() : fs::weakly_canonical(spec.parent_path());
}

void CompilerInputs::add_unit(const DependencyRule& rule) {
  Unit unit;
  unit.is_precompiled = is_precompiled(rule.output);
  for (const std::string& written : rule.files) {
    const File& read = file(written);
    for (const std::string& source : read.united) unit.united.insert(&file(source));
    if (read.place == Place::elsewhere && !lies_in(read.without_links, folders_)) continue;
    unit.files.push_back(&read);
    if (read.is_compiled && read.place != Place::generated) unit.sources.push_back(&read);
  }
  if (!unit.files.empty()) units_.push_back(std::move(unit));
}

const CompilerInputs::File& CompilerInputs::file(const std::string& written) {
  const auto [known, is_new] = files_.try_emplace(written);
  File& file = known->second;
  if (!is_new) return file;
  file.path = fs::path(written).lexically_normal();
  if (!fs::exists(file.path)) file.path = fs::weakly_canonical(written);  // "link/../x.h" is not "x.h"
  if (is_within(file.path, written_root_)) file.path = root_ / file.path.lexically_relative(written_root_);
  const auto [folder, is_new_folder] = real_folders_.try_emplace(file.path.parent_path());
  if (is_new_folder) folder->second = fs::weakly_canonical(folder->first);
  file.without_links = folder->second / file.path.filename();
  file.place = place_of(folder->second);
  if (file.place == Place::generated && fs::is_symlink(file.without_links)) {
    file.path = file.without_links = fs::weakly_canonical(file.without_links);
    file.place = place_of(file.path.parent_path());
  } else if (!is_within(file.path, root_)) {
    file.path = file.without_links;
  }
  file.is_compiled = is_compiled(file.path);
  if (file.is_compiled) file.united = united_sources(file.path);
  return file;
}

CompilerInputs::Place CompilerInputs::place_of(const fs::path& folder) {
  const auto [known, is_new] = places_.try_emplace(folder, Place::elsewhere);
  Place& place = known->second;
  if (!is_new) return place;
  if (folder == root_) return place = Place::project;
  if (folder == folder.root_path() || is_environment(folder) || is_own_headers(folder) ||
      folder.filename() == "CMakeFiles")
    return place;
  place = place_of(folder.parent_path());
  if (is_build(folder)) place = Place::generated;
  return place;
}

bool CompilerInputs::is_build(const fs::path& folder) const {
  const bool may_be =
      is_within(folder, root_) || std::ranges::find(build_.folders, folder) != build_.folders.end();
  return may_be && !is_within(folder_, folder) &&
         (fs::exists(folder / "build.ninja") || fs::exists(folder / "CMakeCache.txt"));
}

bool CompilerInputs::concerns(const Unit& unit, const Folders& folders) const {
  if (unit.is_precompiled) return true;
  const auto lies_here = [&](const File* read) { return lies_in(read->without_links, folders); };
  const auto is_shared = [&](const File* read) { return lies_in(read->without_links, shared_); };
  if (std::ranges::any_of(unit.sources, lies_here) || std::ranges::any_of(unit.sources, is_shared))
    return true;
  const bool is_of_others = !unit.sources.empty() && std::ranges::all_of(unit.sources, [&](const File* read) {
    return lies_in(read->without_links, folders_);
  });
  return !is_of_others && std::ranges::any_of(unit.files, lies_here);
}

// Whether `one` may include `other`.
bool CompilerInputs::names(const File& one, const File& other) {
  const auto [known, is_new] = includes_.try_emplace(&one);
  if (is_new) known->second = include_names(one.path);
  return !known->second || known->second->contains(other.path.filename());
}

// The files of a unity unit that belong to other operators alone: their sources, and the headers that nothing
// but those includes.
std::set<const CompilerInputs::File*> CompilerInputs::files_beside(const Unit& unit, const Folders& folders) {
  std::set<const File*> beside;
  std::vector<const File*> counting;
  for (const File* read : unit.files) {
    const auto is_in = [&](const Folders& some) { return lies_in(read->without_links, some); };
    const bool is_of_others = is_in(folders_) && !is_in(folders) && !is_in(shared_);
    if (!unit.united.empty() && is_of_others) {
      beside.insert(read);
    } else if (read->united.empty()) {
      counting.push_back(read);
    }
  }
  for (size_t i = 0; i < counting.size() && !beside.empty(); ++i) {
    std::erase_if(beside, [&](const File* read) {
      if (unit.united.contains(read) || !names(*counting[i], *read)) return false;
      counting.push_back(read);
      return true;
    });
  }
  return beside;
}

bool CompilerInputs::is_spec_alone(const Unit& unit, const Folders& folders) const {
  bool has_spec = false;
  for (const File* source : unit.sources) {
    if (spec_files_.contains(source->without_links)) {
      has_spec = true;
    } else if (lies_in(source->without_links, folders) || lies_in(source->without_links, shared_)) {
      return false;
    }
  }
  return has_spec || unit.is_precompiled;
}

std::string CompilerInputs::digest_of(const File& file) {
  const bool is_newer = built_ && fs::exists(file.path) && fs::last_write_time(file.path) > *built_;
  return is_newer ? "" : digests_.of(file.path);
}

FilesRead CompilerInputs::of(const Spec& subject) {
  const bool is_model = subject.kind == Spec::Kind::model;
  const Folders folders = is_model ? folders_ : Folders{folder_of(subject)};
  FilesRead read;
  if (folders.contains(fs::path())) return read;
  read.not_followed = build_.gaps;
  std::set<std::string> generated;
  bool has_kernels = is_model || subject.kernels_in_python;
  for (const Unit& unit : units_) {
    if (!concerns(unit, folders)) continue;
    has_kernels = has_kernels || !is_spec_alone(unit, folders);
    const std::set<const File*> beside = files_beside(unit, folders);
    for (const File* one : unit.files) {
      if (beside.contains(one)) continue;
      const std::string name = one->path.lexically_relative(folder_);
      if (one->place == Place::project) read.digests.try_emplace(name, digest_of(*one));
      if (one->place == Place::generated) generated.insert(shown_path(one->path, config_));
    }
  }
  if (!has_kernels && !build_.rules.empty()) {
    read.not_followed.push_back(fmt::format(
        "nothing but specs was compiled from {}/: if the kernels are elsewhere, name their folder "
        "in `sources`",
        shown_path(*folders.begin(), config_)));
  }
  if (!generated.empty()) read.not_followed.push_back(generated_gap(generated));
  return read;
}

}  // namespace opgate
