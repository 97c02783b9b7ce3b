// opgate evidence: keeps what a run on a machine with a GPU showed, for machines without one.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>

#include "base/errors.h"
#include "cli/commands/subcommand.h"
#include "cli/project/project_options.h"
#include "gate/broken.h"
#include "gate/evidence/device_evidence.h"
#include "gate/evidence/evidence_signature.h"
#include "gate/ledger/toml_text.h"
#include "run/output_folder.h"

namespace opgate::evidence {
namespace {

namespace fs = std::filesystem;

struct EvidenceOptions {
  ProjectOptions project;
  fs::path results;
  fs::path key;
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

// Throws SetupError if the files cannot be signed. A signature vouches for a whole file, so whatever stays in
// the file must have been signed before.
void demand_signable(const EvidenceOptions& options, const Config& config, const Evidences& evidence) {
  if (config.signers.empty()) {
    throw setup_error(
        "{} does not name whose signatures count: add signers = \"fixtures/signers\", a file to "
        "commit with lines such as `ann@example.org ssh-ed25519 AAAA...`",
        config.file.string());
  }
  if (!fs::exists(options.key))
    throw setup_error("--sign names {}, and there is no such key", options.key.string());
  for (const std::string& id : with_older_evidence(config.evidence, evidence)) {
    const fs::path file = toml_file(config.evidence, id);
    if (const std::string problem = check_signature(file, config.signers).problem; !problem.empty()) {
      throw setup_error(
          "{} has older evidence that a new signature would vouch for, and {}; remove the file, or "
          "review it and sign it with `ssh-keygen -Y sign -n opgate-evidence -f {} {}`",
          file.string(), problem, options.key.string(), file.string());
    }
  }
}

void sign_all(const EvidenceOptions& options, const Config& config, const Evidences& evidence) {
  std::vector<fs::path> files;
  for (const auto& [id, of_op] : evidence) files.push_back(toml_file(config.evidence, id));
  sign(files, options.key);
  for (const fs::path& file : files) {
    if (const std::string problem = check_signature(file, config.signers).problem; !problem.empty())
      throw setup_error("{}: {}; add the key to that file", file.string(), problem);
  }
  fmt::print("signed     {} files with {}\n", files.size(), options.key.string());
}

int keep(const EvidenceOptions& options) {
  const Config config = options.project.read();
  if (config.evidence.empty()) {
    throw setup_error(
        "{} names no folder for evidence: add evidence = \"fixtures/evidence\", a folder to commit",
        config.file.string());
  }
  const RunState run = state_of_run(options.results.empty() ? results_file(config.output) : options.results);
  if (run.header.devices.empty()) {
    throw setup_error(
        "{} is of a machine without a GPU, so it is no evidence for other machines; run on one with a GPU",
        run.file.string());
  }
  const Evidences evidence = evidence_of(run);
  print_limits(run, evidence);
  if (evidence.empty()) {
    throw setup_error(
        "{} has no check that passed on a GPU and whose sources are known and were built: was "
        "the run made on the CPU alone, or without `evidence` in opgate.toml, or after a change of sources?",
        run.file.string());
  }
  if (!options.key.empty()) demand_signable(options, config, evidence);
  const std::vector<std::string> changed = add_evidence(config.evidence, evidence);
  if (!options.key.empty()) {
    sign_all(options, config, evidence);
  } else if (!config.signers.empty() && !changed.empty()) {
    for (const std::string& id : changed) fs::remove(signature_of(toml_file(config.evidence, id)));
    print_notes("note", {{"not signed, so it does not count: run this again with --sign KEY", changed}});
  }
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
  app.add_option("--results FILE", options->results, "results.jsonl of another run");
  app.add_option(
      "--sign KEY", options->key,
      "sign what is written with this SSH key, for projects whose opgate.toml names `signers`; ssh-keygen "
      "does it, and asks for a passphrase");
  return [=] { return keep(*options); };
}

OPGATE_REGISTER_SUBCOMMAND(evidence, {"evidence", &declare});

}  // namespace
}  // namespace opgate::evidence
