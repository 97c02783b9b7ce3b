#include "gate/base/base_samples.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/files/atomic_file.h"
#include "base/files/files.h"
#include "base/text.h"
#include "gate/broken.h"
#include "gate/rule.h"
#include "gate/schema_compatibility.h"
#include "run/output_folder.h"
#include "spec/schema/function_name.h"

namespace opgate {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

constexpr auto kCases = "*/contiguous/*/value.*";  // the checks that make the call and compare its values

// The samples of the base that the head was not called with, by operator.
json samples_to_run(const RunState& base, const RunState& head) {
  const json all = json::parse(content_of(samples_file(base.file.parent_path())), nullptr,
                               /*allow_exceptions=*/false);
  json wanted = json::object();
  if (!all.is_object()) return wanted;
  for (const auto& [id, then] : base.state) {
    const auto now = head.state.find(id);
    const std::string op = std::string(name_in_schema(then.facts.schema));
    if (now == head.state.end() || !all.contains(op)) continue;
    if (!why_incompatible(then.facts.schema, now->second.facts.schema).empty()) continue;
    for (const json& sample : all.at(op)) {
      const std::string name = sample.at("name");
      if (!same_arguments(then.facts, now->second.facts, name)) wanted[op].push_back(sample);
    }
  }
  return wanted;
}

}  // namespace

std::optional<RunState> run_base_samples(const RunState& base, const RunState& head, const Config& config,
                                         const std::vector<std::string>& options, const Announce& announce) {
  const json samples = samples_to_run(base, head);
  if (samples.empty()) return std::nullopt;
  const fs::path output = config.output / "base-samples", file = output / "wanted.json";
  AtomicFile(file, samples.dump(1, ' ', false, json::error_handler_t::replace) + "\n").commit();

  Command run{{this_executable(), "run", "--config", config.file, "--output", output, "--samples", file,
               "--case", kCases}};
  if (!config.libraries_from.empty()) run.words.insert(run.words.end(), {"--build", config.libraries_from});
  for (const auto& [op, of_op] : samples.items()) run.words.insert(run.words.end(), {"--op", op});
  run.words.insert(run.words.end(), options.begin(), options.end());
  announce(fmt::format("head: calling {} with samples of the base that their specs do not have",
                       counted(samples.size(), "operator")));
  return state_of_run(results_of_process(run, output, "the head cannot be run on the samples of the base"));
}

}  // namespace opgate
