#include "cli/results/tally.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <numeric>
#include <span>

#include "base/check_group.h"
#include "cli/results/defects_text.h"
#include "cli/results/in_colour.h"
#include "cli/terminal/exit_status.h"
#include "cli/terminal/table.h"
#include "cli/terminal/terminal.h"
#include "inputs/call_key.h"
#include "results/finding_text.h"

namespace opgate {
namespace {

constexpr size_t kReasonsInSummary = 3;
constexpr size_t kHappenedInNote = 2;
constexpr size_t kRowsShown = 40;  // of the table, where more rows have nothing broken

}  // namespace

Tally::Row& Tally::row(std::string_view op, std::string_view device) {
  if (last_row_ == rows_.end() || last_row_->first.first != op || last_row_->first.second != device)
    last_row_ = rows_.try_emplace({std::string(op), std::string(device)}).first;
  return last_row_->second;
}

void Tally::add(std::string_view case_id, const Judgement& judgement) {
  const CaseParts parts = parts_of_case(case_id);
  const auto& [op, dtype, sample, variant, device, check, call] = parts;
  if (judgement.asked_on_simulator) {
    totals_.add(judgement);
    add_owed(judgement);
    simulated_instead_[{std::string(op), std::string(device)}][std::string(check)].add(judgement);
    return;
  }
  simulated_ += judgement.verdict == Verdict::pass && device == kSimulatedDevice;
  auto& cells = row(op, device).cells;
  auto found = cells.find(check);
  if (found == cells.end()) found = cells.emplace(check, Cell{}).first;
  Cell& cell = found->second;
  cell.cases.add(judgement);
  totals_.add(judgement);
  if (judgement.worst_ulps > 0) note_error(cell, parts, case_id, judgement);
  if (judgement.verdict == Verdict::owed) {
    add_owed(judgement);
  } else if (judgement.verdict == Verdict::pass && judgement.given_by == GivenBy::evidence) {
    ++by_evidence_[judgement.reason];
  } else if (judgement.verdict == Verdict::pass && (judgement.finding || !judgement.reason.empty())) {
    add_note(case_id, op, check, judgement);
  } else if (is_broken(judgement.verdict)) {
    defects_.add(std::string(case_id), judgement);
    if (cell.finding.empty()) cell.finding = finding_text(case_id, judgement, options_);
  }
}

void Tally::add_owed(const Judgement& judgement) {
  NotRun& not_run = not_run_[judgement.reason_without_remarks()];
  ++(judgement.asked_on_simulator ? not_run.on_simulator : not_run.owed);
  if (!judgement.remarks.empty()) not_run.remarks.insert(judgement.remarks);
}

void Tally::add(std::string_view call_id, const CallFacts& facts) {
  std::set<std::string> called;
  for (const std::string& name : facts.called) {
    if (const auto id = ids_.find(name); id != ids_.end()) called.insert(id->second);
  }
  if (!called.empty()) defects_.add_called(std::string(parts_of_call(call_id).op), called);
  samples_.add(call_id, facts);
}

// Findings that share their start, as "`slots` is not checked: where one element is -1, ..." does, become one
// note.
void Tally::add_note(std::string_view case_id, std::string_view op, std::string_view check,
                     const Judgement& judgement) {
  std::string begin = judgement.reason, rest, likely;
  if (judgement.finding) {
    begin = judgement.finding->shared();
    rest = judgement.finding->here;
    likely = judgement.finding->likely;
  }
  Note& note = notes_[{std::string(op), std::move(begin), std::move(likely)}];
  ++note.checks[std::string(check)];
  note.is_fault = judgement.finding.has_value();
  if (!rest.empty()) note.happened.emplace(case_id, std::move(rest));
}

size_t Tally::faults_noted() const {
  size_t cases = 0;
  for (const auto& [about, note] : notes_) {
    if (!note.is_fault) continue;
    for (const auto& [check, count] : note.checks) cases += count;
  }
  return cases;
}

void Tally::note_error(Cell& cell, const CaseParts& parts, std::string_view case_id,
                       const Judgement& judgement) {
  WorstError& worst = cell.worst[std::string(parts.dtype)];
  if (judgement.worst_ulps > worst.ulps) worst = {std::string(case_id), judgement.worst_ulps};
  const auto bound = accuracy_.find(std::string(parts.op));
  if (group_of_check(parts.check) == "grad") return;  // they have another bound
  if (judgement.verdict != Verdict::pass || bound == accuracy_.end()) return;
  if (const double fraction = judgement.worst_ulps / bound->second; fraction > worst_fraction_) {
    worst_fraction_ = fraction;
    worst_accepted_ = {std::string(case_id), judgement.worst_ulps};
  }
}

std::vector<WorstError> Tally::worst() const {
  std::vector<WorstError> errors;
  for (const auto& [key, row] : rows_) {
    for (const auto& [check, cell] : row.cells) {
      for (const auto& [dtype, error] : cell.worst) errors.push_back(error);
    }
  }
  return errors;
}

size_t Tally::total() const {
  return std::accumulate(totals_.by_verdict.begin(), totals_.by_verdict.end(), size_t{0});
}

int Tally::exit_status() const {
  if (count(Verdict::fail) + count(Verdict::crash) + count(Verdict::timeout) > 0) return kPromiseBroken;
  return count(Verdict::invalid) > 0 ? kUsageOrSetup : kAllKept;
}

std::string Tally::table(Columns columns) const {
  std::vector<TableRow> rows;
  std::set<std::string> names;
  size_t left_out = 0;
  for (const auto& [key, row] : rows_) {
    std::map<std::string, VerdictCounts> merged;
    for (const auto& [check, cell] : row.cells)
      merged[columns == Columns::checks ? check : std::string(group_of_check(check))].add(cell.cases);
    const bool is_shown =
        columns == Columns::checks || rows_.size() <= kRowsShown ||
        std::ranges::any_of(merged, [](const auto& entry) { return is_broken(entry.second.worst()); });
    if (!is_shown) {
      ++left_out;
      continue;
    }
    TableRow line{key.first + " " + key.second, {}};
    for (const auto& [name, counts] : merged) {
      line.cells[name] = {cell_text(counts), colour_of(counts.worst())};
      names.insert(name);
    }
    rows.push_back(std::move(line));
  }
  std::string text = format_table({names.begin(), names.end()}, rows, terminal_width());
  if (left_out > 0)
    text +=
        fmt::format("{} more operators and models have no broken case; `--verbose` shows them\n\n", left_out);
  return text;
}

std::vector<nlohmann::json> Tally::closing_lines() const {
  std::vector<nlohmann::json> lines;
  for (const auto& [key, row] : rows_) {
    for (const auto& [check, cell] : row.cells) {
      nlohmann::json& line = lines.emplace_back();
      line = {{"row", fmt::format("{}/{}/{}", key.first, key.second, check)},
              {"cell", cell_text(cell.cases)}};
      if (!cell.finding.empty()) line["finding"] = cell.finding;
    }
  }
  for (const auto& [key, checks] : simulated_instead_) {
    const auto row = rows_.find(key);
    for (const auto& [check, counts] : checks) {
      if (row != rows_.end() && row->second.cells.contains(check)) continue;
      lines.push_back(
          {{"row", fmt::format("{}/{}/{}", key.first, key.second, check)}, {"cell", cell_text(counts)}});
    }
  }
  for (const Defect& defect : defects_.found()) {
    nlohmann::json& line = lines.emplace_back(defect);
    line["finding"] = finding_text(defect.example, defect.evidence, options_);
  }
  return lines;
}

std::string Tally::defects_text(size_t most) const {
  return opgate::defects_text(defects_.found(), most, options_);
}

std::string Tally::notes() const {
  const std::string about_samples = samples_.text();
  if (notes_.empty() && about_samples.empty()) return "";
  std::string text = "notes\n";
  for (const auto& [about, note] : notes_) {
    const auto& [op, begin, likely] = about;
    text += fmt::format("  {}: {}", op, begin);
    std::vector<std::string> happened;
    for (const auto& [case_id, what] : note.happened) {
      if (std::ranges::find(happened, what) == happened.end()) happened.push_back(what);
    }
    const size_t shown = std::min(happened.size(), kHappenedInNote);
    if (shown > 0) text += fmt::format(": {}", fmt::join(std::span(happened).first(shown), "; "));
    if (shown < happened.size()) text += fmt::format("; and {} more", happened.size() - shown);
    if (!likely.empty()) text += fmt::format("; {}", likely);
    std::vector<std::string> checks;
    for (const auto& [check, count] : note.checks) checks.push_back(fmt::format("{} {}", check, count));
    text += fmt::format(" ({})\n", fmt::join(checks, ", "));
  }
  return text + about_samples + "\n";
}

// Each reason once, with the remark if there is only one.
std::vector<std::string> Tally::notes_of_owed() const {
  std::vector<std::pair<std::string, NotRun>> reasons(not_run_.begin(), not_run_.end());
  const size_t shown = reasons.size() > kReasonsInSummary + 1 ? kReasonsInSummary : reasons.size();
  if (shown < reasons.size())
    std::ranges::stable_sort(reasons, std::greater(), [](const auto& one) { return one.second.owed; });
  std::vector<std::string> notes;
  for (const auto& [reason, cases] : std::span(reasons).first(shown)) {
    std::string which = reasons.size() == 1 ? "owed" : fmt::format("{} owed", cases.owed);
    if (cases.on_simulator > 0)
      which = "no GPU has run what is simulated" +
              (cases.owed > 0 ? fmt::format(", nor {} owed", cases.owed) : "");
    notes.push_back(fmt::format("{}: {}", which, reason));
    if (cases.remarks.size() == 1) notes.push_back(*cases.remarks.begin());
    if (cases.remarks.size() > 1)
      notes.push_back(fmt::format("{} further reasons, which results.jsonl names", cases.remarks.size()));
  }
  if (shown < reasons.size())
    notes.push_back(
        fmt::format("owed for {} other reasons, which results.jsonl names", reasons.size() - shown));
  return notes;
}

std::string Tally::summary() const {
  const size_t crashed = count(Verdict::crash);
  const size_t timed_out = count(Verdict::timeout);
  size_t elsewhere = 0;
  for (const auto& [reason, cases] : not_run_) elsewhere += cases.on_simulator;
  std::string text = fmt::format("{} passed, ", count(Verdict::pass) - simulated_);
  if (simulated_ > 0) text += fmt::format("{} simulated, ", simulated_);
  text += fmt::format("{} failed, {} owed", count(Verdict::fail) + crashed + timed_out,
                      count(Verdict::owed) - elsewhere);
  if (const size_t invalid = count(Verdict::invalid); invalid > 0)
    text += fmt::format(", {} with a broken spec", invalid);
  std::vector<std::string> notes;
  for (const auto& [reason, number] : by_evidence_)
    notes.push_back(fmt::format("* {} by {}", number, reason));
  if (crashed > 0) notes.push_back(fmt::format("{} crashed", crashed));
  if (timed_out > 0) notes.push_back(fmt::format("{} timed out", timed_out));
  std::ranges::move(notes_of_owed(), std::back_inserter(notes));
  if (worst_fraction_ > 0) {
    notes.push_back(fmt::format("worst accepted error {:.2g} of {:.4g} ulps, {}", worst_accepted_.ulps,
                                worst_accepted_.ulps / worst_fraction_,
                                parts_of_case(worst_accepted_.case_id).call));
  }
  if (!notes.empty()) text += fmt::format(" ({})", fmt::join(notes, "; "));
  return text;
}

}  // namespace opgate
