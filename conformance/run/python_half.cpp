#include "run/python_half.h"

#include <c10/util/hash.h>
#include <fmt/format.h>
#include <opgate/error.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <string_view>
#include <vector>

#include "base/build.h"
#include "base/new_file.h"

extern char** environ;

namespace opgate {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

constexpr int64_t kNanoseconds = 1'000'000'000;

// Empty: nowhere.
fs::path cache_folder() {
  if (const char* given = std::getenv("XDG_CACHE_HOME"); given != nullptr && *given == '/')
    return fs::path(given) / "opgate";
  if (const char* home = std::getenv("HOME"); home != nullptr && *home == '/')
    return fs::path(home) / ".cache" / "opgate";
  return {};
}

// Variables that Python itself reads, and those that OpGate and its users name after it.
json telling_environment() {
  std::vector<std::string> variables;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    if (text.starts_with("PYTHON") || text.starts_with("OPGATE_")) variables.emplace_back(text);
  }
  std::ranges::sort(variables);
  return variables;
}

bool is_unchanged(const std::string& file, const json& was) {
  struct stat is {};
  if (stat(file.c_str(), &is) != 0) return false;
  return was == json{is.st_size, is.st_mtim.tv_sec * kNanoseconds + is.st_mtim.tv_nsec};
}

}  // namespace

PythonHalf python_half_from(const json& said, const std::string& python) {
  try {
    PythonHalf half{said.at("checks"), said.at("models"), said.at("torch"), said.at("sources")};
    all_checks(half.checks);
    return half;
  } catch (const json::exception& error) {
    throw SetupError(fmt::format("the Python half at {} is of another OpGate: {}", python, error.what()));
  }
}

PythonMemory::PythonMemory(const Command& command, const Setup& setup)
    : key_(json{{"opgate", kVersion},
                {"words", command.words},
                {"environment", command.environment},
                {"present", telling_environment()},
                {"libraries", setup.libraries},
                {"specs", setup.specs},
                {"modules", setup.modules}}
               .dump()) {
  if (const fs::path folder = cache_folder(); !folder.empty())
    file_ = folder / fmt::format("python-{}.json", c10::sha1(key_).str());
}

std::optional<json> PythonMemory::recall() const {
  std::ifstream stream(file_);
  const json kept = json::parse(stream, nullptr, /*allow_exceptions=*/false);
  if (!kept.is_object() || !kept.contains("said") || kept.value("key", json()) != key_) return std::nullopt;
  const json& said = kept.at("said");
  if (!said.is_object() || !said.contains("files")) return std::nullopt;
  for (const auto& [file, was] : said.at("files").items()) {
    if (!is_unchanged(file, was)) return std::nullopt;
  }
  return said;
}

void PythonMemory::keep(const json& said) const {
  if (file_.empty()) return;
  try {
    NewFile(file_, json{{"key", key_}, {"said", said}}.dump() + "\n").put_in_place();
  } catch (const SetupError&) {  // it saves time, and nothing depends on it
  }
}

void PythonMemory::forget() const {
  std::error_code failed;
  fs::remove(file_, failed);
}

}  // namespace opgate
