// The jobs in which the Python worker makes AOTInductor packages.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "plan/case_set.h"
#include "process/limits.h"
#include "run/work_queue.h"

namespace opgate {

class PackageJobs {
 public:
  /// The packages lie in `folder`.
  PackageJobs(std::filesystem::path folder, const Limits& limits)
      : folder_(std::move(folder)), limits_(limits) {}

  /// For each device with cases of `todo` that need a package, on simulated devices or on others: adds a job
  /// that makes the packages of their calls, and one that runs them. Removes what an earlier run has noted
  /// about them.
  void add(bool simulated, const Calls& calls, const CaseSet& todo, Queue& queue) const;

  /// After a worker was lost during such a job: adds it again without the calls or packages that the worker
  /// was working on; if it was working on none, notes why no package could be made, so that the cases which
  /// need it can report the reason.
  void note_failure(const nlohmann::json& preparation, const Judgement& lost, Queue& queue) const;

 private:
  std::filesystem::path at_of(const std::string& device) const;
  std::optional<nlohmann::json> without_culprit(nlohmann::json package, const Judgement& lost) const;

  const std::filesystem::path folder_;
  const Limits limits_;
};

}  // namespace opgate
