#include "cli/project/other_call.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/dtypes.h"
#include "cli/project/project.h"
#include "plan/case_parts.h"
#include "spec/json/sample_json.h"
#include "spec/json/samples_file.h"
#include "spec/spec.h"

namespace opgate {

void write_samples_of(const std::filesystem::path& file, const Spec& spec, std::vector<Sample> samples) {
  Spec other = spec;
  other.samples = std::move(samples);
  write_samples(file, {other});
}

OtherCall call_of_example(const ProjectOptions& options, const std::string& id, const std::string& example) {
  const Project project = open_project(options);
  CallKey key = parse_call_id(project.subjects, std::string(parts_of_case(id).call));
  const auto described = nlohmann::json::parse(example);
  const Sample sample = sample_from_json(described.at("sample"));
  key.sample = &sample;
  key.dtype = *dtype_from_name(described.at("dtype").get<std::string>());
  key.variant = described.at("variant").get<std::string>();
  OtherCall call{options.read().output / "example.json",
                 fmt::format("{}/{}", call_id(key), described.at("check").get<std::string>())};
  write_samples_of(call.samples, *key.spec, {sample});
  return call;
}

}  // namespace opgate
