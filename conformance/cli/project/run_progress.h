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

  /// That a check finds what was planted for it is no news.
  void on_verdict(const JudgedCase& judged) override;

  /// Prints the first finding of each operator since the last time, and the progress line, if it is time for it.
  void on_progress(const std::vector<std::string>& current) override;

  size_t done() const { return done_; }
  size_t total() const { return total_; }

  void clear() { line_.clear(); }

 private:
  // Cases that take about equally long, and are judged by the same workers.
  enum Lane : size_t { native, python, slow, packaged, kLanes };
  struct Count {
    size_t done = 0;
    size_t total = 0;
  };

  static Lane lane_of(Worker worker, const Check& check);
  std::string time_left(double seconds) const;

  const Calls& calls_;
  const bool is_quiet_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  size_t done_, known_, total_;
  size_t broken_ = 0;
  std::array<Count, kLanes> lanes_{};
  std::set<std::string> found_;  // operators of which a broken case has been told
  std::vector<std::string> unsaid_;
  ProgressLine line_;
};

}  // namespace opgate
