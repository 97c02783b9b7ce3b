#include "provenance/source_files.h"

#include <algorithm>
#include <array>

#include "base/files/files.h"
#include "base/sha1.h"
#include "spec/spec.h"

namespace opgate {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 12> kCompiled{".c",  ".cc", ".cpp", ".cxx", ".c++", ".C",
                                                     ".cu", ".S",  ".s",   ".asm", ".m",   ".mm"};

}  // namespace

bool is_within(const fs::path& file, const fs::path& folder) {
  const std::string& inner = file.native();
  const std::string& outer = folder.native();
  return inner.starts_with(outer) &&
         (inner.size() == outer.size() || outer.ends_with('/') || inner[outer.size()] == '/');
}

bool is_environment(const fs::path& folder) {
  const fs::path name = folder.filename();
  return name == "site-packages" || name == "dist-packages" || fs::exists(folder / "pyvenv.cfg") ||
         fs::exists(folder / "conda-meta");
}

bool is_compiled(const fs::path& file) {
  return std::ranges::find(kCompiled, file.extension().native()) != kCompiled.end();
}

fs::path file_of(const Spec& subject) {
  const fs::path file = subject.where.substr(0, subject.where.rfind(':'));
  return fs::exists(file) ? fs::absolute(file).lexically_normal() : fs::path();
}

std::optional<fs::file_time_type> time_of_newest(const std::vector<std::string>& libraries) {
  std::optional<fs::file_time_type> newest;
  for (const std::string& library : libraries)
    newest = std::max(newest.value_or(fs::file_time_type::min()), fs::last_write_time(library));
  return newest;
}

const std::string& FileDigests::of(const fs::path& file) {
  const auto [known, is_new] = digests_.try_emplace(file);
  if (is_new && fs::is_regular_file(file)) known->second = sha1_of(content_of(file));
  return known->second;
}

}  // namespace opgate
