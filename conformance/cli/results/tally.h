// The results of a run: counts by operator, device and check, the defects that broken cases show, and their
// text.
#pragma once

#include <array>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "cli/results/sample_notes.h"
#include "defects/defect.h"
#include "plan/case_parts.h"
#include "results/cell.h"
#include "run/journal.h"
#include "run/run_listener.h"

namespace opgate {

class Tally : public RunListener {
 public:
  /// `options` go into the commands that findings end with: " --config my.toml".
  explicit Tally(std::string options) : options_(std::move(options)) {}
  /// The header has what operators promise, and their names.
  Tally(std::string options, const RunHeader& header)
      : options_(std::move(options)), accuracy_(header.accuracy()), ids_(header.ids_of_operators()) {}

  void add(std::string_view case_id, const Judgement& judgement);
  void add(std::string_view call_id, const CallFacts& facts);
  void on_verdict(const JudgedCase& judged) override { add(judged.id(), judged.judgement); }
  void on_facts(const std::string& call_id, const CallFacts& facts) override { add(call_id, facts); }

  size_t count(Verdict verdict) const { return totals_.of(verdict); }
  size_t total() const;

  /// 0: all promises kept; 1: a promise broken; 2: only specs are wrong.
  int exit_status() const;

  /// A table of operators and devices by check, or by group of checks: cell_text(), "." if nothing was
  /// planned.
  enum class Columns { checks, groups };
  std::string table(Columns columns) const;

  /// Lines of results.jsonl after the verdicts, from which the reports are made: for each operator, device
  /// and check its cell and the text of its first finding, then the defects, with the text of their examples.
  std::vector<nlohmann::json> closing_lines() const;

  /// The defects as text, the most severe first: as many as `most`, and how many more there are.
  std::string defects_text(size_t most) const;

  /// What passing cases note, such as a layout that the operator of a draft refuses: a line for each operator
  /// and fault, with the number of cases of each check; then what samples cannot tell. Empty if there is
  /// none.
  std::string notes() const;

  /// The number of passing cases whose note is a finding: a likely fault that no promise excludes.
  size_t faults_noted() const;

  /// "12 passed, 3 simulated, 0 failed, 4 owed (no NVIDIA driver ...; worst accepted error 2.7 of 4 ulps,
  /// gelu_tanh/...)"
  std::string summary() const;

  /// The worst error, in ulps, of each operator, device, dtype and check that has one; failing cases count,
  /// too.
  std::vector<WorstError> worst() const;

 private:
  struct Cell {
    VerdictCounts cases;
    std::string finding;  // the text of the first one; empty if nothing is broken
    std::map<std::string, WorstError, std::less<>> worst;  // by dtype
  };
  struct Row {
    std::map<std::string, Cell, std::less<>> cells;  // by check
  };
  using RowKey = std::pair<std::string, std::string>;  // operator, device

  Row& row(std::string_view op, std::string_view device);
  void add_note(std::string_view case_id, std::string_view op, std::string_view check,
                const Judgement& judgement);
  void add_owed(const Judgement& judgement);
  std::vector<std::string> notes_of_owed() const;
  void note_error(Cell& cell, const CaseParts& parts, std::string_view case_id, const Judgement& judgement);

  std::string options_;
  std::map<std::string, double> accuracy_;
  std::map<std::string, std::string> ids_;  // of operators, by name
  Defects defects_;
  std::map<RowKey, Row> rows_;
  std::map<RowKey, Row>::iterator last_row_ = rows_.end();  // cases come in long runs of one operator
  // Cases that are owed and asked on the simulated device, by check: the table shows the rows of that device
  // alone.
  std::map<RowKey, std::map<std::string, VerdictCounts>> simulated_instead_;
  WorstError worst_accepted_;  // relative to its bound, among passing cases
  double worst_fraction_ = 0;
  struct NotRun {
    size_t owed = 0;
    size_t on_simulator = 0;        // owed on CUDA, and asked on the simulated device
    std::set<std::string> remarks;  // what some of these cases say beyond the reason
  };
  std::map<std::string, NotRun> not_run_;      // by the reason without remarks
  size_t simulated_ = 0;                       // passes on the simulated device
  std::map<std::string, size_t> by_evidence_;  // by the reason of the verdict
  struct Note {
    std::map<std::string, size_t> checks;  // the number of cases of each
    bool is_fault = false;                 // whether it is a finding
    // Without what all of them begin with, by case: workers answer in any order.
    std::map<std::string, std::string> happened;
  };
  std::map<std::array<std::string, 3>, Note> notes_;  // by operator, what all begin with, and what is likely
  VerdictCounts totals_;
  SampleNotes samples_;
};

}  // namespace opgate
