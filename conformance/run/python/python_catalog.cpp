#include "run/python/python_catalog.h"

#include <c10/util/hash.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <fstream>
#include <string_view>

#include "base/build.h"
#include "base/errors.h"
#include "base/files/atomic_file.h"
#include "base/files/cache_folder.h"
#include "device/accelerator.h"
#include "judging/all_checks.h"
#include "run/python/module_inputs.h"

extern char** environ;

namespace opgate {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

constexpr int64_t kNanoseconds = 1'000'000'000;

// Modules may register kernels for an accelerator only if there is one.
bool hides_devices(std::string_view variable) {
  const auto is_it = [&](const Accelerator& each) {
    return variable.starts_with(fmt::format("{}=", each.visible_devices()));
  };
  return find_accelerator(is_it) != nullptr;
}

// The variables that Python itself reads (PYTHON*), those of OpGate and its users (OPGATE_*), and those that
// hide devices.
json relevant_environment() {
  std::vector<std::string> variables;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    if (text.starts_with("PYTHON") || text.starts_with("OPGATE_") || hides_devices(text))
      variables.emplace_back(text);
  }
  std::ranges::sort(variables);
  return variables;
}

// `was` is null if the file did not exist.
bool is_unchanged(const std::string& file, const json& was) {
  struct stat is {};
  if (stat(file.c_str(), &is) != 0) return was.is_null();
  return was == json{is.st_size, is.st_mtim.tv_sec * kNanoseconds + is.st_mtim.tv_nsec};
}

}  // namespace

PythonCatalog python_catalog_from(const json& said, const std::string& python) {
  try {
    PythonCatalog half{said.at("checks"),
                       said.at("models"),
                       said.at("registered"),
                       {},
                       said.at("operators").get<std::vector<std::string>>(),
                       said.at("torch"),
                       said.at("sources"),
                       said.at("modules").get<std::map<std::string, std::string>>(),
                       said.at("inputs").at("files").get<std::vector<std::string>>(),
                       said.at("inputs").at("variables").get<std::map<std::string, std::string>>()};
    half.python_kernels = kernels_only_in_python(half.registered);
    all_checks(half.checks);
    return half;
  } catch (const json::exception& error) {
    throw setup_error("the Python half at {} is of another version of OpGate: {}; install OpGate again there",
                      python, error.what());
  }
}

PythonCatalogCache::PythonCatalogCache(const Command& command, const Setup& setup)
    : command_(command),
      key_(json{{"opgate", kVersion},
                {"words", command.words},
                {"environment", command.environment},
                {"present", relevant_environment()},
                {"libraries", setup.libraries},
                {"specs", setup.specs},
                {"modules", setup.modules},
                {"samples", json::array({setup.regressions, setup.recorded, setup.samples})}}
               .dump()) {
  if (const fs::path folder = cache_folder(); !folder.empty())
    file_ = folder / fmt::format("python-{}.json", c10::sha1(key_).str());
}

std::optional<json> PythonCatalogCache::recall() const {
  std::ifstream stream(file_);
  const json kept = json::parse(stream, nullptr, /*allow_exceptions=*/false);
  if (!kept.is_object() || !kept.contains("said") || kept.value("key", json()) != key_) return std::nullopt;
  const json& said = kept.at("said");
  if (!said.is_object() || !said.contains("files")) return std::nullopt;
  for (const auto& [file, was] : said.at("files").items()) {
    if (!is_unchanged(file, was)) return std::nullopt;
  }
  if (!said.contains("inputs")) return std::nullopt;
  for (const auto& [name, then] : said.at("inputs").at("variables").items()) {
    if (digest_of_variable(name, command_) != then) return std::nullopt;
  }
  return said;
}

void PythonCatalogCache::keep(const json& said) const {
  if (file_.empty()) return;
  try {
    AtomicFile(file_, json{{"key", key_}, {"said", said}}.dump() + "\n").commit();
  } catch (const SetupError&) {  // the cache only saves time: nothing depends on it
  }
}

void PythonCatalogCache::forget() const {
  std::error_code failed;
  fs::remove(file_, failed);
}

}  // namespace opgate
