// Running a plan from a command line: each verdict goes into results.jsonl as it comes, progress to stderr.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "cli/command_line.h"
#include "cli/project.h"
#include "run/journal.h"

namespace opgate {

/// Options of how cases are run.
struct SweepOptions {
  size_t jobs;
  int64_t seconds;         ///< for a native call
  int64_t python_seconds;  ///< for a call in the Python half
  double gib;              ///< for a worker

  /// As many jobs as cores, the limits of default_limits().
  SweepOptions();
  void declare(CommandLine& app);
  /// The same choice on another command line.
  std::vector<std::string> words() const;
  Limits limits() const;
};

/// Options that choose a part of the plan.
struct ShardOptions {
  std::string shard;            ///< I/N; empty for everything
  std::filesystem::path costs;  ///< results.jsonl of an earlier run; empty: parts by position

  void declare(CommandLine& app);
  Shard read() const { return shard.empty() ? Shard{} : shard_from_string(shard); }
  /// None where there are none, or another version of OpGate wrote them. Throws SetupError.
  std::optional<Costs> read_costs() const;
  Cut cut(const Calls& calls) const;
};

/// The first line of the results of `todo`, which is part of `plan`, which `filter` asked for.
RunHeader header_of(const Project& project, const Plan& plan, const Filter& filter, const CaseSet& todo,
                    const ShardOptions& part = {});

using OnCase = std::function<void(const std::string& case_id, const Judgement& judgement)>;

/// Gives each case of `todo` a verdict, by evidence where this machine lacks the device, writes it to
/// `journal`, which begins with `header`, and tells `on_case`. `known` cases have one already. What the calls
/// took; none where it was interrupted. Throws SetupError where a case was left without a verdict.
std::optional<Costs> sweep(Project& project, const Plan& plan, const RunHeader& header, CaseSet& todo,
                           size_t jobs, size_t known, Journal& journal, const OnCase& on_case);

}  // namespace opgate
