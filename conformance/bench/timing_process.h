// A process that times operators on demand. `opgate gate` starts one for the base and one for the head, and
// lets them run in turns.
//
//   supervisor -> process                         process -> supervisor, on kAnswerDescriptor
//                                                 {"benches": [NAME, ...]}   describe() of each
//   {"open": NAME}                                {"opened": NAME} or {"failed": "why"}
//   {"calls": 100}                                {"seconds": 0.002} or {"failed": "why"}
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "bench/bench_case.h"
#include "process/child_process.h"

namespace opgate {

/// Times these benches as commands on stdin demand, until stdin ends. Benches on devices that this machine
/// lacks are left out. Returns the exit status.
int serve_as_stopwatch(std::vector<BenchCase> benches);

/// The parent's side of such a process. Each member function throws SetupError if the process ends or
/// does not answer within a minute, and Interrupted.
class StopwatchProcess {
 public:
  StopwatchProcess(const Command& command, const std::filesystem::path& log);

  const std::vector<std::string>& benches() const { return benches_; }

  /// Prepares this bench. Throws ContenderRaised if the operator or its baseline raises, or they
  /// disagree.
  void open(const std::string& bench);

  /// The seconds that `calls` calls of the operator take together. Throws ContenderRaised if it raises.
  double seconds_of(int64_t calls);

 private:
  nlohmann::json answer();
  nlohmann::json ask(const nlohmann::json& question);

  Child child_;
  std::filesystem::path log_;
  std::vector<std::string> benches_;
};

}  // namespace opgate
