#include "gate/state.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/errors.h"
#include "base/text.h"
#include "device/simulator.h"
#include "gate/broken.h"
#include "judging/calls/call_facts.h"
#include "layouts/layout.h"
#include "plan/case_parts.h"
#include "run/journal.h"

namespace opgate {
namespace {

namespace fs = std::filesystem;

// Metadata texts by sample, variant and dtype, as the results file has them.
using RawOutputs = std::map<std::string, std::map<std::string, ByDtype<std::string>>>;

// Shortens "float32 [4] strides (1)" of a float32 call to "[4] strides (1)".
std::string without_dtype(std::string_view text, std::string_view dtype) {
  if (text.starts_with(dtype) && text.substr(dtype.size()).starts_with(" "))
    text.remove_prefix(dtype.size() + 1);
  return std::string(text);
}

std::string in_words(const CallFacts& facts, std::string_view dtype) {
  std::vector<std::string> outputs;
  for (const std::string& output : facts.outputs) outputs.push_back(without_dtype(output, dtype));
  return outputs.empty() ? "nothing" : fmt::format("{}", fmt::join(outputs, "; "));
}

// Joins the texts of all dtypes into one where they agree; keeps one per dtype otherwise.
std::map<std::string, std::string> joined(const std::map<std::string, ByDtype<std::string>>& by_variant) {
  std::map<std::string, std::string> texts;
  for (const auto& [variant, by_dtype] : by_variant) {
    const std::string& first = by_dtype.begin()->second;
    const bool agree =
        std::ranges::all_of(by_dtype, [&](const auto& entry) { return entry.second == first; });
    if (agree) {
      texts[variant] = first;
      continue;
    }
    for (const auto& [dtype, text] : by_dtype) texts[fmt::format("{}, {}", variant, dtype)] = text;
  }
  const auto contiguous = texts.find(std::string(kContiguous));
  if (contiguous == texts.end()) return texts;
  const std::string usual = contiguous->second;
  std::erase_if(texts, [&](const auto& entry) {
    return entry.second == usual && !entry.first.starts_with(kContiguous);
  });
  return texts;
}

class Gathering {
 public:
  explicit Gathering(RunState& run) : run_(run) {}

  void begin(const RunHeader& header) {
    for (const auto& [id, facts] : header.subjects) run_.state[id] = {facts, {}};
    machine_ = machine_of(header);
  }

  void take(const std::string& case_id, const Judgement& judgement) {
    const CaseParts parts = parts_of_case(case_id);
    DeviceState& device = device_of(parts);
    const std::string check(parts.check), dtype(parts.dtype);
    planned_[{std::string(parts.op), std::string(parts.device)}].add(parts.sample, parts.variant, parts.dtype,
                                                                     parts.check);
    ++run_.entries;
    if (judgement.verdict == Verdict::pass) {
      ++(parts.device == kSimulatedDevice ? run_.simulated : run_.passed);
      note_error(device, parts, case_id, judgement.worst_ulps);
      if (judgement.given_by == GivenBy::evidence) {
        ++device.by_evidence[check][dtype];
        ++run_.by_evidence[judgement.reason];
      }
    } else if (judgement.verdict == Verdict::owed) {
      ++device.owed[check][dtype];
      if (!judgement.asked_on_simulator) ++run_.owed[judgement.reason];
    } else {
      // A crash or timeout is not hidden behind an earlier failure of the same check, nor behind another
      // signal.
      const bool ended = judgement.verdict == Verdict::crash || judgement.verdict == Verdict::timeout;
      note_broken(fmt::format("{}/{}/{}{}", parts.op, parts.device, check,
                              ended ? "/" + first_line(judgement.reason) : ""),
                  case_id, judgement);
    }
  }

  void take(const std::string& call_id, const CallFacts& facts) {
    const CaseParts parts = parts_of_call(call_id);
    const std::string sample(parts.sample), dtype(parts.dtype);
    outputs_[{std::string(parts.op), std::string(parts.device)}][sample][std::string(parts.variant)][dtype] =
        in_words(facts, parts.dtype);
    DeviceState& device = device_of(parts);
    if (!facts.bits.empty()) device.machines[machine_].bits[sample][dtype] = facts.bits;
    if (!facts.values.empty())
      device.values[sample][dtype] = fmt::format("{}", fmt::join(facts.values, "; "));
    if (!facts.reference.empty())
      device.reference[sample][dtype] = fmt::format("{}", fmt::join(facts.reference, "; "));
  }

  // Notes which defect the first case of each group of broken ones belongs to.
  void take_defect(const nlohmann::json& line) {
    const std::string id = line.at("defect");
    run_.defects[id] = line.at("cause");
    const std::set<std::string> cases = line.at("cases");
    const std::string example = line.at("example");
    for (Broken& broken : run_.broken) {
      if (!cases.contains(broken.case_id)) continue;
      broken.defect = id;
      broken.shows_best = parts_of_case(broken.case_id).check == parts_of_case(example).check;
    }
  }

  void finish() {
    for (const auto& [op_device, by_sample] : outputs_) {
      DeviceState& device = run_.state.at(op_device.first).devices[op_device.second];
      for (const auto& [sample, by_variant] : by_sample) device.outputs[sample] = joined(by_variant);
    }
    for (const auto& [op_device, cases] : planned_)
      run_.state.at(op_device.first).devices[op_device.second].planned = cases.build();
  }

 private:
  DeviceState& device_of(const CaseParts& parts) {
    const auto found = run_.state.find(std::string(parts.op));
    if (found == run_.state.end()) {
      throw setup_error("{} has a verdict on {}, which its first line does not have", run_.file.string(),
                        parts.op);
    }
    return found->second.devices[std::string(parts.device)];
  }

  void note_error(DeviceState& device, const CaseParts& parts, const std::string& case_id, double ulps) {
    if (ulps <= 0) return;
    double& worst = device.machines[machine_].worst[std::string(parts.check)][std::string(parts.dtype)];
    if (ulps <= worst) return;
    worst = ulps;
    run_.worst[fmt::format("{}/{}/{}/{}", parts.op, parts.device, parts.check, parts.dtype)] = case_id;
  }

  void note_broken(const std::string& group, const std::string& case_id, const Judgement& judgement) {
    const auto [place, is_new] = groups_.try_emplace(group, run_.broken.size());
    if (is_new) {
      run_.broken.push_back({case_id, judgement, 0});
    } else {
      ++run_.broken[place->second].others;
    }
    Broken& broken = run_.broken[place->second];
    broken.cases.insert(Broken::hash_of(case_id, judgement.verdict));
    broken.dtypes.emplace(parts_of_case(case_id).dtype);
  }

  RunState& run_;
  std::string machine_;
  std::map<std::pair<std::string, std::string>, RawOutputs> outputs_;  // by operator and device
  std::map<std::pair<std::string, std::string>, PlannedCasesBuilder> planned_;
  std::map<std::string, size_t> groups_;
};

}  // namespace

const MachineResults* DeviceState::on(const std::string& machine) const {
  const auto found = machines.find(machine);
  return found == machines.end() ? nullptr : &found->second;
}

std::string machine_of(const RunHeader& header) {
  return fmt::format("torch {}, {}", header.torch, header.capability);
}

RunState state_of_run(const fs::path& results) {
  RunState run;
  run.file = results;
  Gathering gathering(run);
  const ReadJournal journal = read_journal(
      results,
      {.header = [&](const RunHeader& header) { gathering.begin(header); },
       .verdict = [&](const std::string& id, const Judgement& judged) { gathering.take(id, judged); },
       .facts = [&](const std::string& id, const CallFacts& facts) { gathering.take(id, facts); },
       .defect = [&](const nlohmann::json& line) { gathering.take_defect(line); }});
  run.header = journal.header;
  if (run.header.shard != Shard{}) {
    throw setup_error("{} is shard {} of a run; merge all of them first, with `opgate merge`",
                      results.string(), to_string(run.header.shard));
  }
  if (!journal.finished) {
    throw setup_error(
        "{} is unfinished: {} of its {} cases have a verdict; complete it with `opgate run --resume`",
        results.string(), journal.entries, run.header.cases);
  }
  if (journal.entries != run.header.cases) {
    throw setup_error("{} is damaged: it has {} verdicts for its {} planned cases; run again",
                      results.string(), journal.entries, run.header.cases);
  }
  gathering.finish();
  return run;
}

}  // namespace opgate
