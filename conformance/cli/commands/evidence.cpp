// opgate evidence: keeps what a run on a machine with a GPU showed, for machines without one.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <opgate/error.h>

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
  if (evidence.empty()) {
    throw SetupError(fmt::format(
        "{} has no check that passed on a GPU and whose sources are known: was the run made on the CPU "
        "alone, or without `evidence` in opgate.toml?",
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
      "instead of being owed (not run), as long as sources, OpGate and torch are the same");
  auto options = std::make_shared<EvidenceOptions>();
  options->project.declare(app);
  app.add_option("--results", options->results, "results.jsonl of another run").type_name("FILE");
  return [=] { return keep(*options); };
}

OPGATE_REGISTER_SUBCOMMAND(evidence, {"evidence", &declare});

}  // namespace
}  // namespace opgate::evidence
