// What a run came to: counts by operator, device and check, the first finding of each, and how that reads.
#pragma once

#include <array>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "plan/plan.h"

namespace opgate {

class Tally {
 public:
  /// `options` go into the commands that findings end with: " --config my.toml".
  explicit Tally(std::string options) : options_(std::move(options)) {}

  void add(const PlannedCall& call, const Check& check, const Judgement& judgement);

  size_t count(Verdict verdict) const { return totals_[static_cast<size_t>(verdict)]; }
  size_t total() const;

  /// 0 all kept, 1 a promise broken, 2 only specs at fault.
  int exit_status() const;

  /// Operator and device by check: ok, FAIL 12, owed, "." where nothing was planned.
  std::string table() const;

  /// One finding for each operator, device and check that broke a promise, with the number of others like it.
  std::string findings() const;

  /// "12 passed, 0 failed, 4 owed (no NVIDIA driver ...)"
  std::string summary() const;

 private:
  using Counts = std::array<size_t, 6>;
  struct Example {
    std::string case_id;
    Judgement judgement;
  };
  struct Cell {
    Counts counts{};
    std::vector<Example> examples;  // the first that is neither pass nor owed
  };

  std::string options_;
  std::map<std::pair<std::string, std::string>, std::map<std::string, Cell>>
      rows_;  // (operator, device) -> check
  std::set<std::string> checks_;
  std::map<std::string, size_t> owed_reasons_;
  Counts totals_{};
};

/// A case and what was found, as the user reads it; also what `opgate repro` ends with.
std::string finding_text(const std::string& case_id, const Judgement& judgement, const std::string& options);

}  // namespace opgate
