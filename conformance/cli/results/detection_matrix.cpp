#include "cli/results/detection_matrix.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ranges>

#include "base/errors.h"
#include "cli/results/in_colour.h"
#include "cli/terminal/terminal.h"
#include "plan/case_parts.h"
#include "spec/spec.h"

namespace opgate {
namespace {

constexpr std::string_view kOpcheck = "opcheck";

bool is_finding(Verdict verdict) {
  return verdict == Verdict::fail || verdict == Verdict::crash || verdict == Verdict::timeout;
}

const Spec& find_by_name(const std::vector<Spec>& subjects, const std::string& name, const Spec& asks) {
  const auto found = std::ranges::find(subjects, name, &Spec::name);
  if (found == subjects.end())
    throw setup_error("{}: the correct twin of {}, {}, has no spec", asks.where, asks.name, name);
  if (found->planted)
    throw setup_error("{}: the correct twin of {}, {}, is itself planted", asks.where, asks.name, name);
  return *found;
}

}  // namespace

DetectionMatrix::DetectionMatrix(const std::vector<Spec>& subjects, const std::vector<const Spec*>& planned,
                                 const std::vector<Check>& checks, std::vector<std::string> blind)
    : blind_(std::move(blind)) {
  for (const Spec& spec : subjects) {
    if (!spec.planted) continue;
    const Spec& twin = find_by_name(subjects, spec.planted->twin, spec);
    if (std::ranges::find(planned, &twin) != planned.end()) twins_[twin.id];
    if (std::ranges::find(planned, &spec) == planned.end()) continue;
    if (std::ranges::find(checks, spec.planted->check, &Check::name) == checks.end()) {
      throw setup_error("{}: {} is planted for {}, and there is no such check", spec.where, spec.name,
                        spec.planted->check);
    }
    defects_[spec.id].check = spec.planted->check;
  }
}

void DetectionMatrix::on_verdict(const JudgedCase& judged) {
  const std::string case_id = judged.id();
  const CaseParts parts = parts_of_case(case_id);
  const bool is_blind = std::ranges::find(blind_, parts.check) != blind_.end();
  const Judgement judgement = is_blind ? Judgement::pass() : judged.judgement;
  if (const auto twin = twins_.find(parts.op); twin != twins_.end()) {
    std::vector<Complaint>& complaints = twin->second;
    const bool known = std::ranges::any_of(
        complaints, [&](const Complaint& each) { return parts_of_case(each.case_id).check == parts.check; });
    const bool clean = judgement.verdict == Verdict::pass || judgement.verdict == Verdict::owed;
    if (!clean && !known) complaints.push_back({std::string(case_id), judgement});
    return;
  }
  const auto found = defects_.find(parts.op);
  if (found == defects_.end()) return;
  Planted& defect = found->second;
  if (judgement.verdict == Verdict::owed) {
    // Every machine has a CPU, so a defect that was not run there counts as escaped.
    if (parts.device == "cpu") return;
    if (parts.check == defect.check) ++defect.owed;
    owed_reason_ = judgement.reason;
    return;
  }
  ++defect.judged[std::string(parts.check)];
  if (is_finding(judgement.verdict)) {
    defect.found_by.emplace(parts.check);
    if (parts.check == defect.check && parts.device != kSimulatedDevice) defect.found_by_a_run = true;
  }
  if (is_broken(judgement.verdict)) seen_.add(std::string(case_id), judgement);
}

std::string DetectionMatrix::Planted::opcheck() const {
  if (found_by.contains(kOpcheck)) return "fails";
  return judged.contains(kOpcheck) ? "passes" : ".";
}

std::string DetectionMatrix::table() const {
  size_t width = 6;
  size_t check_width = 11;
  std::vector<const std::pair<const std::string, Planted>*> rows;
  for (const auto& row : defects_) {
    rows.push_back(&row);
    width = std::max(width, row.first.size());
    check_width = std::max(check_width, row.second.check.size());
  }
  std::ranges::stable_sort(rows, {}, [](const auto* row) { return row->second.check; });
  std::string text = fmt::format("{:{}}  {:7}  {:{}}  {:7}  {}\n", "defect", width, "", "planted for",
                                 check_width, "opcheck", "also found by");
  for (const auto* row : rows) {
    const auto& [name, defect] = *row;
    const std::string verdict = defect.is_simulated() ? coloured(Colour::green, "sim    ")
                                : defect.is_found()   ? coloured(Colour::green, "found  ")
                                : defect.is_owed()    ? coloured(Colour::yellow, "owed   ")
                                                      : coloured(Colour::red, "ESCAPED");
    std::vector<std::string> others;
    std::ranges::copy_if(defect.found_by, std::back_inserter(others), [&](const std::string& check) {
      return check != defect.check && check != kOpcheck;
    });
    text += fmt::format("{:{}}  {}  {:{}}  {:7}  {}", name, width, verdict, defect.check, check_width,
                        defect.opcheck(), fmt::join(others, " "));
    text.erase(text.find_last_not_of(' ') + 1);
    text += "\n";
  }
  return text;
}

std::string DetectionMatrix::faults(const std::string& options) const {
  std::string text;
  for (const auto& [name, defect] : defects_) {
    if (defect.is_found() || defect.is_owed()) continue;
    const auto judged = defect.judged.find(defect.check);
    text += fmt::format("{} {}: {} finds it in none of {} cases\n", coloured(Colour::red, "ESCAPED"), name,
                        defect.check, judged == defect.judged.end() ? 0 : judged->second);
  }
  for (const auto& [name, complaints] : twins_) {
    for (const auto& [case_id, judgement] : complaints) {
      text += fmt::format("{} {} is correct, but a check found this:\n{}", coloured(Colour::red, "FLAGGED"),
                          name, finding_in_colour(case_id, judgement, options));
    }
  }
  return text;
}

size_t DetectionMatrix::count(bool (Planted::*property)() const) const {
  return static_cast<size_t>(
      std::ranges::count_if(defects_, [&](const auto& row) { return (row.second.*property)(); }));
}

std::string DetectionMatrix::summary() const {
  const size_t owed = count(&Planted::is_owed);
  std::string text = fmt::format("{} of {} defects found by the check they were planted for",
                                 count(&Planted::is_found), defects_.size() - owed);
  if (const size_t simulated = count(&Planted::is_simulated); simulated > 0)
    text += fmt::format(", {} of them on the simulated device", simulated);
  const auto tried_by_opcheck = [](const auto& row) { return row.second.judged.contains(kOpcheck); };
  if (std::ranges::any_of(defects_, tried_by_opcheck)) {
    const auto unseen = std::ranges::count_if(
        defects_, [](const auto& row) { return row.second.is_found() && row.second.opcheck() == "passes"; });
    text += fmt::format(", {} of them not found by opcheck", unseen);
  }
  const auto clean = std::ranges::count_if(twins_, [](const auto& twin) { return twin.second.empty(); });
  text += fmt::format("; {} of {} correct twins not flagged by any check", clean, twins_.size());
  if (owed > 0) text += fmt::format("; {} defects owed: {}", owed, owed_reason_);
  return text;
}

std::string DetectionMatrix::groups() const {
  std::map<std::string, std::vector<std::string>> shown_as;
  std::set<std::string> named;  // where the evidence is of the check that the defect was planted for
  for (const opgate::Defect& defect : seen_.found()) {
    const std::string planted = fmt::format("{} {}", defect.op, defect.device);
    if (parts_of_case(defect.example).check == defects_.at(defect.op).check) named.insert(planted);
    shown_as[planted].push_back(fmt::format("{} ({})", defect.id.substr(defect.op.size() + 1),
                                            fmt::join(std::views::keys(defect.checks), " ")));
  }
  if (shown_as.empty()) return "";
  std::string text;
  size_t alone = 0, all = 0;
  for (const auto& [planted, defects] : shown_as) {
    alone += defects.size() == 1;
    all += defects.size();
    if (defects.size() > 1)
      text += fmt::format("{} as {} defects: {}\n", planted, defects.size(), fmt::join(defects, ", "));
  }
  return text + fmt::format(
                    "{} of {} planted defects shown as one, {:.3f} on average; {} with evidence of the "
                    "check that they were planted for\n",
                    alone, shown_as.size(), static_cast<double>(all) / static_cast<double>(shown_as.size()),
                    named.size());
}

bool DetectionMatrix::holds() const {
  return count(&Planted::is_found) + count(&Planted::is_owed) == defects_.size() &&
         std::ranges::all_of(twins_, [](const auto& twin) { return twin.second.empty(); });
}

}  // namespace opgate
