#include "spec/json/json_folder.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>

#include "base/errors.h"

namespace opgate {

namespace fs = std::filesystem;

std::vector<fs::path> json_files(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  }
  std::ranges::sort(files);
  return files;
}

void for_each_json(const fs::path& folder, const std::string& what,
                   const std::function<void(const nlohmann::json&, const std::string&)>& read) {
  for (const fs::path& file : json_files(folder)) {
    try {
      read(nlohmann::json::parse(std::ifstream(file)), file.string());
    } catch (const nlohmann::json::exception& error) {
      throw spec_error("{}: {}{}", file.string(), what, error.what());
    } catch (const SpecError& error) {
      if (std::string_view(error.what()).starts_with(file.string())) throw;
      throw spec_error("{}: {}", file.string(), error.what());
    }
  }
}

}  // namespace opgate
