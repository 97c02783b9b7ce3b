#include "spec/regressions.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "spec/sample_json.h"

namespace opgate {
namespace fs = std::filesystem;

void add_regressions(const fs::path& folder, std::vector<Spec>& subjects) {
  if (folder.empty()) return;
  if (!fs::is_directory(folder)) {
    throw SpecError(
        fmt::format("`regressions` in opgate.toml names {}, which is no folder", folder.string()));
  }
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  }
  std::ranges::sort(files);
  for (const fs::path& file : files) {
    const auto wrong = [&](const std::string& why) {
      return SpecError(fmt::format("{}: {}", file.string(), why));
    };
    try {
      const nlohmann::json kept = nlohmann::json::parse(std::ifstream(file));
      const std::string op = kept.at("op");
      const auto spec = std::ranges::find(subjects, op, &Spec::name);
      if (spec == subjects.end()) throw wrong(fmt::format("no spec speaks of {}", op));
      Sample sample = sample_from_json(kept.at("sample"));
      sample.where = file.string();
      spec->samples.push_back(std::move(sample));
    } catch (const nlohmann::json::exception& error) {
      throw wrong(error.what());
    } catch (const SpecError& error) {
      if (std::string_view(error.what()).starts_with(file.string())) throw;
      throw wrong(error.what());
    }
  }
}

}  // namespace opgate
