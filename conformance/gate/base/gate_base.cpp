#include "gate/base/gate_base.h"

#include <fmt/format.h>

#include "base/errors.h"
#include "gate/evidence/evidence_signature.h"
#include "gate/ledger/ledger.h"
#include "run/output_folder.h"

namespace opgate {
namespace {

namespace fs = std::filesystem;

GateBase base_of_results(const fs::path& file) {
  RunState run = state_of_run(file);
  GateBase base{fmt::format("{} of {}", file.string(), run.header.started), run.state};
  base.output = file.parent_path();
  if (run.header.coverage.operators() > 0) base.not_covered = run.header.coverage.not_covered;
  base.run = std::move(run);
  return base;
}

}  // namespace

GateBase base_of_ledger(const Config& config) {
  if (config.ledger.empty()) {
    throw setup_error(
        "{} names no ledger to compare with: add ledger = \"fixtures/ledger\" and run "
        "`opgate accept`, or name a run to compare with by --base",
        config.file.string());
  }
  GateBase base{"ledger " + fs::proximate(config.ledger).string(), read_ledger(config.ledger), true};
  base.not_covered = read_not_covered(config.ledger);
  return base;
}

GateBase base_of_commit_ledger(const std::string& commit, const Config& config) {
  const CheckedOut checkout = check_out(commit, config);
  GateBase base = base_of_ledger(checkout.config);
  base.name = fmt::format("ledger {} of {}",
                          fs::relative(checkout.config.ledger, checkout.config.file.parent_path()).string(),
                          checkout.name);
  base.waivers = read_waivers(checkout.config.waivers);
  note_waivers(*base.waivers, base.state);
  base.signers = lines_of_signers(checkout.config.signers);
  base.commit = checkout.commit;
  base.least_score = checkout.config.mutation.least;
  return base;
}

GateBase base_of_run_or_build(const std::string& base, const Config& config,
                              const std::vector<std::string>& options, const Announce& announce) {
  const fs::path named = fs::absolute(base);
  if (fs::is_regular_file(named)) return base_of_results(named);
  if (fs::exists(results_file(named))) return base_of_results(results_file(named));
  BaseBuild build = find_base(base, config, announce);
  GateBase ran = base_of_results(run_base(build, options, announce));
  ran.name = build.name;
  const Config base_config = read_config(build.config);
  note_waivers(read_waivers(base_config.waivers), ran.state);
  ran.signers = lines_of_signers(base_config.signers);
  ran.waivers_known = true;
  ran.commit = build.commit;
  ran.least_score = base_config.mutation.least;
  ran.build = std::move(build);
  return ran;
}

}  // namespace opgate
