#include "spec/regressions.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/errors.h"
#include "spec/json/json_folder.h"
#include "spec/json/sample_json.h"
#include "spec/spec.h"

namespace opgate {
namespace fs = std::filesystem;

void add_regressions(const fs::path& folder, std::vector<Spec>& subjects) {
  if (folder.empty()) return;
  if (!fs::is_directory(folder)) {
    throw spec_error(
        "`regressions` in opgate.toml names {}, which is not a folder: create it, or remove the line",
        folder.string());
  }
  for_each_json(folder, "", [&](const nlohmann::json& kept, const std::string& file) {
    const std::string op = kept.at("op");
    const auto spec = std::ranges::find(subjects, op, &Spec::name);
    if (spec == subjects.end()) throw spec_error("{} has no spec: write one, or delete this file", op);
    Sample sample = sample_from_json(kept.at("sample"));
    sample.where = file;
    spec->samples.push_back(std::move(sample));
  });
}

}  // namespace opgate
