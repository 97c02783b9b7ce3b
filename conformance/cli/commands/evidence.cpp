// opgate evidence: keeps what a run on a machine with a GPU showed, for machines without one.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <opgate/error.h>

#include <map>

#include "cli/commands/subcommand.h"
#include "cli/project/complete_run.h"
#include "gate/device_evidence.h"

namespace opgate::evidence {
namespace {

namespace fs = std::filesystem;

struct EvidenceOptions {
  ProjectOptions project;
  fs::path results;
};

using OpsByNote = std::map<std::string, std::vector<std::string>>;

void print_notes(std::string_view word, const OpsByNote& notes) {
  for (const auto& [note, ops] : notes) fmt::print("{:10} {}: {}\n", word, fmt::join(ops, ", "), note);
}

// Says which operators get no evidence, because their files changed after the build, and of which operators
// some files are not followed.
void print_limits(const RunState& run, const Evidences& evidence) {
  OpsByNote left_out, not_followed;
  for (const auto& [id, subject] : run.state) {
    if (const std::vector<std::string> files = uncompiled_of(subject.facts); !files.empty()) {
      left_out[fmt::format("changed or removed after the build, so build and run again: {}",
                           fmt::join(files, ", "))]
          .push_back(id);
    } else if (evidence.contains(id)) {
      for (const std::string& words : subject.facts.files_not_followed) not_followed[words].push_back(id);
    }
  }
  print_notes("left out", left_out);
  print_notes("note", not_followed);
}

int keep(const EvidenceOptions& options) {
  const Config config = options.project.read();
  if (config.evidence.empty()) {
    throw SetupError(
        fmt::format("{} names no folder for evidence: add evidence = \"fixtures/evidence\", a folder to "
                    "commit",
                    config.file.string()));
  }
  const RunState run = state_of_run(options.results.empty() ? results_file(config) : options.results);
  if (run.header.devices.empty()) {
    throw SetupError(
        fmt::format("{} is of a machine without a GPU, so it is no evidence for other machines; run on one "
                    "with a GPU",
                    run.file.string()));
  }
  const Evidences evidence = evidence_of(run);
  print_limits(run, evidence);
  if (evidence.empty()) {
    throw SetupError(
        fmt::format("{} has no check that passed on a GPU and whose sources are known and were built: was "
                    "the run made on "
                    "the CPU alone, or without `evidence` in opgate.toml, or after a change of sources?",
                    run.file.string()));
  }
  const std::vector<std::string> changed = add_evidence(config.evidence, evidence);
  size_t cases = 0;
  for (const auto& [id, of_op] : evidence) {
    for (const DeviceEvidence& one : of_op) {
      for (const auto& [check, passed] : one.checks) cases += passed.cases;
    }
  }
  if (!changed.empty()) fmt::print("changed    {}\n", fmt::join(changed, ", "));
  fmt::print("{} cases of {} operators, which passed on {}, are kept as evidence in {}\n", cases,
             evidence.size(), run.header.devices.begin()->second, config.evidence.string());
  return kAllKept;
}

std::function<int()> declare(CommandLine& app) {
  app.description(
      "Keep what the last run showed on a GPU as evidence for machines without one: their CUDA cases pass "
      "instead of being owed (not run), as long as OpGate, torch and all files of the project that the "
      "compiler read are the same");
  auto options = std::make_shared<EvidenceOptions>();
  options->project.declare(app);
  app.add_option("--results", options->results, "results.jsonl of another run").type_name("FILE");
  return [=] { return keep(*options); };
}

OPGATE_REGISTER_SUBCOMMAND(evidence, {"evidence", &declare});

}  // namespace
}  // namespace opgate::evidence
