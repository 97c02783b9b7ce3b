#include "provenance/source_digests.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "base/errors.h"
#include "base/files/files.h"
#include "base/sha1.h"
#include "provenance/source_files.h"
#include "provenance/walk.h"
#include "spec/spec.h"

namespace opgate {
namespace {

namespace fs = std::filesystem;

// The endings of files that kernels and specs are written in, and that say how they are built.
constexpr std::array<std::string_view, 16> kEndings{".h",   ".hh", ".hpp",  ".hxx",  ".cuh", ".inl",
                                                    ".inc", ".c",  ".cc",   ".cpp",  ".cxx", ".cu",
                                                    ".py",  ".S",  ".json", ".cmake"};

bool is_source(const fs::path& file) {
  return file.filename() == "CMakeLists.txt" ||
         std::ranges::find(kEndings, file.extension().string()) != kEndings.end();
}

std::string content_digest(const fs::path& file) {
  if (access(file.c_str(), R_OK) != 0) throw setup_error("cannot read {}", file.string());
  return sha1_of(content_of(file));
}

// Skips hidden folders, build folders, and OpGate's own output.
bool is_skipped(const fs::path& folder, const Config& config) {
  return folder.filename().string().starts_with(".") || fs::exists(folder / "CMakeCache.txt") ||
         folder.lexically_normal() == config.output.lexically_normal();
}

std::vector<fs::path> sources_in(const fs::path& folder, const Config& config) {
  std::vector<fs::path> files;
  walk(folder, [&](const fs::directory_entry& entry) {
    if (entry.is_directory()) return !is_skipped(entry.path(), config);
    if (entry.is_regular_file() && is_source(entry.path()) &&
        !entry.path().filename().string().starts_with("."))
      files.push_back(entry.path());
    return false;
  });
  std::ranges::sort(files);
  return files;
}

fs::path folder_of(const Spec& subject) { return file_of(subject).parent_path(); }

}  // namespace

SourceDigests::SourceDigests(const Config& config, const std::vector<std::string>& libraries,
                             const std::vector<Spec>& subjects)
    : config_(config), built_(time_of_newest(libraries)) {
  for (const Spec& subject : subjects) folders_.insert(folder_of(subject));
  for (const fs::path& place : config.sources) {
    if (!fs::exists(place)) {
      throw setup_error("{}: `sources` names {}, which does not exist; correct the path or remove it",
                        config.file.string(), place.string());
    }
    everywhere_ += of_place(place);
  }
  if (fs::is_directory(config.regressions)) everywhere_ += of_place(config.regressions);
  for (const auto& [name, value] : config.environment) everywhere_ += fmt::format("{}={}\n", name, value);
}

const std::string& SourceDigests::of_place(const fs::path& place) {
  const auto [known, is_new] = by_place_.try_emplace(place);
  if (!is_new) return known->second;
  const bool is_folder = fs::is_directory(place);
  // File names are relative to the folder, so that they are the same on every machine.
  for (const fs::path& file : is_folder ? sources_in(place, config_) : std::vector{place}) {
    const std::string name = is_folder ? file.lexically_relative(place).string() : place.filename().string();
    known->second += fmt::format("{} {}\n", name, content_digest(file));
    if (built_ && file.extension() != ".py" && fs::last_write_time(file) > *built_) unbuilt_.insert(place);
  }
  return known->second;
}

std::string SourceDigests::digest_of(const std::set<fs::path>& folders) {
  std::string text = everywhere_;
  for (const fs::path& folder : folders) {
    if (folder.empty()) return "";
    text += of_place(folder);
    if (unbuilt_.contains(folder)) return "";
  }
  if (std::ranges::any_of(config_.sources, [&](const fs::path& p) { return unbuilt_.contains(p); }))
    return "";
  return sha1_of(text);
}

std::string SourceDigests::of(const Spec& subject) {
  return digest_of(subject.kind == Spec::Kind::model ? folders_ : std::set{folder_of(subject)});
}

}  // namespace opgate
