#include "run/source_digests.h"

#include <c10/util/hash.h>
#include <fmt/format.h>
#include <opgate/error.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>

namespace opgate {
namespace {

namespace fs = std::filesystem;

// Of what kernels, specs and the samples of regressions are written in.
constexpr std::array<std::string_view, 16> kEndings{".h",   ".hh",   ".hpp",  ".hxx", ".cuh", ".inl",
                                                    ".inc", ".c",    ".cc",   ".cpp", ".cxx", ".cu",
                                                    ".py",  ".json", ".toml", ".S"};

bool is_source(const fs::path& file) {
  return std::ranges::find(kEndings, file.extension().string()) != kEndings.end();
}

std::string content_digest(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) throw SetupError(fmt::format("cannot read {}", file.string()));
  return c10::sha1(std::string{std::istreambuf_iterator<char>(stream), {}}).str();
}

// Relative to `folder`, so that it is the same on every machine.
std::string folder_digest(const fs::path& folder) {
  std::vector<std::string> lines;
  for (auto entry = fs::recursive_directory_iterator(folder); entry != fs::recursive_directory_iterator();
       ++entry) {
    const bool hidden = entry->path().filename().string().starts_with(".");
    const bool is_build = entry->is_directory() && fs::exists(entry->path() / "CMakeCache.txt");
    if (entry->is_directory() && (hidden || is_build)) entry.disable_recursion_pending();
    if (!entry->is_regular_file() || hidden || !is_source(entry->path())) continue;
    lines.push_back(entry->path().lexically_relative(folder).string() + " " + content_digest(entry->path()));
  }
  std::ranges::sort(lines);
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return c10::sha1(text).str();
}

// "ops/add/spec.cpp:7" is in ops/add; nothing where the file is not here.
fs::path folder_of(const Spec& subject) {
  const fs::path file = subject.where.substr(0, subject.where.rfind(':'));
  return fs::exists(file) ? fs::absolute(file).parent_path().lexically_normal() : fs::path();
}

}  // namespace

SourceDigests::SourceDigests(const Config& config, const std::vector<Spec>& subjects) {
  for (const Spec& subject : subjects) folders_.insert(folder_of(subject));
  for (const fs::path& place : config.sources) {
    if (!fs::exists(place)) {
      throw SetupError(
          fmt::format("{}: `sources` names {}, which is not there", config.file.string(), place.string()));
    }
    everywhere_ += of_place(place);
  }
  if (fs::is_directory(config.regressions)) everywhere_ += of_place(config.regressions);
  for (const auto& [name, value] : config.environment) everywhere_ += fmt::format("{}={}\n", name, value);
}

const std::string& SourceDigests::of_place(const fs::path& place) {
  const auto [known, is_new] = by_place_.try_emplace(place);
  if (is_new) known->second = fs::is_directory(place) ? folder_digest(place) : content_digest(place);
  return known->second;
}

std::string SourceDigests::digest_of(const std::set<fs::path>& folders) {
  std::string text = everywhere_;
  for (const fs::path& folder : folders) {
    if (folder.empty()) return "";
    text += of_place(folder);
  }
  return c10::sha1(text).str();
}

std::string SourceDigests::of(const Spec& subject) {
  return digest_of(subject.kind == Spec::Kind::model ? folders_ : std::set{folder_of(subject)});
}

}  // namespace opgate
