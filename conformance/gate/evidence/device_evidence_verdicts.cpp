#include "gate/evidence/device_evidence_verdicts.h"

#include <fmt/format.h>

#include "device/device.h"
#include "gate/evidence/device_evidence.h"
#include "judging/revision.h"
#include "provenance/source_files.h"
#include "run/obstacles.h"
#include "spec/spec.h"

namespace opgate {
namespace {

namespace fs = std::filesystem;

// The evidence about one operator on one device that this machine lacks.
struct Known {
  std::vector<const DeviceEvidence*> holding;  // for the same sources and torch as here
  std::string not_holding;                     // names evidence that does not hold, and why
  std::map<std::string, size_t> planned;       // number of cases, by check

  bool any() const { return !holding.empty() || !not_holding.empty(); }
};

Known known_of(const std::vector<DeviceEvidence>& all, const std::string& device, const fs::path& folder,
               Tested now, FileDigests& digests) {
  Known known;
  for (const DeviceEvidence& one : all) {
    if (one.device != device) continue;
    if (!one.not_signed.empty()) {
      known.not_holding = fmt::format("{} does not count: {}", in_words(one), one.not_signed);
      continue;
    }
    now.files_read.clear();
    for (const auto& [file, digest] : one.tested.files_read)
      now.files_read[file] = digests.of((folder / file).lexically_normal());
    const std::string differs = difference(one, now);
    if (differs.empty()) {
      known.holding.push_back(&one);
    } else {
      known.not_holding = fmt::format("{} is out of date: {}", in_words(one), differs);
    }
  }
  return known;
}

std::optional<Judgement> passed_by(const Known& known, const Check& check) {
  for (const DeviceEvidence* one : known.holding) {
    const auto seen = one->checks.find(check.name);
    if (seen == one->checks.end() || known.planned.at(check.name) > seen->second.cases) continue;
    if (seen->second.revision != revision_of(check)) continue;
    return Judgement::pass_by_evidence(in_words(*one, seen->second.date));
  }
  return std::nullopt;
}

// Why the evidence does not let a case of the check pass.
std::string why_not(const Known& known, const Check& check) {
  if (known.holding.empty()) return known.not_holding;
  const std::string evidence = in_words(*known.holding.front());
  for (const DeviceEvidence* one : known.holding) {
    const auto seen = one->checks.find(check.name);
    if (seen != one->checks.end() && seen->second.revision != revision_of(check))
      return fmt::format("{} is out of date: the check asks something else today", evidence);
  }
  return fmt::format("{} does not cover it", evidence);
}

}  // namespace

Costs give_by_evidence(const Config& config, const Plan& plan, const RunHeader& header, CaseSet& todo,
                       RunListener& listener) {
  Costs costs;
  const Evidences evidences = read_evidence(config.evidence, config.signers);
  std::map<std::pair<const Spec*, c10::DeviceType>, Known> all;
  const Calls& calls = plan.calls;
  FileDigests digests;
  Obstacles obstacles(calls);
  for (Calls::Position call = 0; call < calls.size(); ++call) {
    const auto of_op = evidences.find(calls.spec(call).id);
    if (of_op == evidences.end() || calls.simulated(call) || !missing_device(calls.device(call))) continue;
    const auto [known, is_new] = all.try_emplace({&calls.spec(call), calls.device(call)});
    if (is_new) {
      const Tested now{header.torch, header.sources, header.subjects.at(of_op->first).sources};
      known->second =
          known_of(of_op->second, device_name(calls.device(call)), config.file.parent_path(), now, digests);
    }
    for (const Check* check : calls.checks(call)) ++known->second.planned[check->name];
  }
  for (Calls::Position call = 0; call < calls.size(); ++call) {
    if (calls.simulated(call)) continue;
    const auto known = all.find({&calls.spec(call), calls.device(call)});
    if (known == all.end() || !known->second.any()) continue;
    const CheckList left = todo.of(call);
    if (!left.empty()) ++costs[cost_key(calls.spec(call), calls.device_name(call))].calls;
    for (const Check* check : left) {
      if (!check->needs_device) continue;  // judged here, as if the device were there
      const auto obstacle = obstacles.to(call, *check);
      if (!obstacle || obstacle->kind != Obstacle::Kind::no_device) continue;
      todo.remove(call, *check);
      std::optional<Judgement> judgement = passed_by(known->second, *check);
      if (!judgement) {
        judgement = obstacles.owed(call, *check, obstacle->reason);
        judgement->add_remark(why_not(known->second, *check));
      }
      listener.on_verdict({calls, call, *check, *judgement});
    }
  }
  return costs;
}

}  // namespace opgate
