// What a person sees while cases run: how far the run is, how long it still takes, and the findings so far.
#pragma once

#include <array>
#include <chrono>
#include <set>
#include <string>
#include <vector>

#include "cli/terminal/terminal.h"
#include "plan/case_set.h"
#include "run/run_listener.h"

namespace opgate {

class RunProgress : public RunListener {
 public:
  /// `known` cases of the plan have a verdict already; those of `todo` get one. Quiet: nothing is printed.
  RunProgress(const Calls& calls, const CaseSet& todo, size_t known, Verbosity verbosity);

  /// For a case that a worker has judged, or that is owed here. A planted defect that its check finds is not
  /// shown.
  void on_verdict(const JudgedCase& judged) override;

  /// Prints the first finding of each operator since the last time, and the progress line, if it is time for
  /// it.
  void on_progress(const std::vector<std::string>& current) override;

  size_t done() const { return done_; }
  size_t total() const { return total_; }

  void clear() { line_.clear(); }

 private:
  using Clock = std::chrono::steady_clock;
  // Cases that take about equally long, and are judged by the same workers. Those on simulated devices come
  // after all others, and take longer.
  enum Lane : size_t { native, python, slow, packaged, simulated, kLanes = 2 * simulated };
  struct Count {
    size_t done = 0;
    size_t total = 0;
    Clock::time_point begin = {};  // of the first verdict
  };

  Count& lane_of(Calls::Position call, const Check& check);
  std::string time_left() const;

  const Calls& calls_;
  const bool is_quiet_;
  const Clock::time_point start_ = Clock::now();
  size_t done_;
  size_t known_;  // of them, without a worker
  size_t total_;
  size_t broken_ = 0;
  std::array<Count, kLanes> lanes_{};
  std::set<std::string> found_;  // operators of which a broken case has been reported
  std::vector<std::string> unsaid_;
  ProgressLine line_;
};

}  // namespace opgate
