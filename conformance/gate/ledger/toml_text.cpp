#include "gate/ledger/toml_text.h"

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/errors.h"

namespace opgate {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kExtension = ".toml";

}  // namespace

std::string toml_string(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

fs::path toml_file(const fs::path& folder, const std::string& id) {
  std::string name = id;  // not every file system allows a colon in a file name
  if (const auto at = name.find("::"); at != std::string::npos) name.replace(at, 2, "--");
  if (const auto at = name.find(':'); at != std::string::npos) name.replace(at, 1, "---");  // of a function
  return folder / (name + std::string(kExtension));
}

std::string id_of_toml(const fs::path& file) {
  std::string id = file.stem().string();
  if (const auto at = id.find("---"); at != std::string::npos) return id.replace(at, 3, ":");
  if (const auto at = id.find("--"); at != std::string::npos) id.replace(at, 2, "::");
  return id;
}

std::vector<fs::path> toml_files_of(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == kExtension) files.push_back(entry.path());
  }
  std::ranges::sort(files);
  return files;
}

toml::table parsed_toml(const fs::path& file, std::string_view writer) {
  std::ifstream stream(file);
  size_t number = 0;
  for (std::string line; std::getline(stream, line);) {
    ++number;
    if (line.starts_with("<<<<<<<") || line.starts_with(">>>>>>>")) {
      throw setup_error(
          "{}:{}: a merge left a conflict here; resolve it, or check out one side and run {} again",
          file.string(), number, writer);
    }
  }
  try {
    return toml::parse_file(file.string());
  } catch (const toml::parse_error& error) {
    throw setup_error("{}:{}: {}; check out the file, or run {} again", file.string(),
                      static_cast<unsigned>(error.source().begin.line), error.description(), writer);
  }
}

}  // namespace opgate
