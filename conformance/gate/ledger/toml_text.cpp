#include "gate/ledger/toml_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/errors.h"
#include "base/files/toml_nodes.h"

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

toml::table merged_toml(const fs::path& file, std::string_view writer) {
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
  return parsed_toml(file, fmt::format("; check out the file, or run {} again", writer));
}

}  // namespace opgate
