// A process that times operators on demand: `opgate gate` has one of the base and one of the head, and lets
// them run in turns.
//
//   supervisor -> process                         process -> supervisor, on kAnswerDescriptor
//                                                 {"benches": [NAME, ...]}   describe() of each
//   {"open": NAME}                                {"opened": NAME} or {"failed": "why"}
//   {"calls": 100}                                {"seconds": 0.002} or {"failed": "why"}
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bench/bench_case.h"
#include "run/child.h"

namespace opgate {

/// Times these benches as it is told on stdin, until that ends; those on devices that are not here are left
/// out. Its exit status.
int serve_as_stopwatch(std::vector<BenchCase> benches);

/// Such a process, from outside. Each call throws SetupError where the process ends or says nothing for a
/// minute, and Interrupted.
class StopwatchProcess {
 public:
  StopwatchProcess(const Command& command, const std::filesystem::path& log);

  const std::vector<std::string>& benches() const { return benches_; }

  /// Makes this bench ready. Throws SideRaised where its sides raise or disagree.
  void open(const std::string& bench);

  /// The seconds that so many calls of the operator take together. Throws SideRaised.
  double seconds_of(int64_t calls);

 private:
  nlohmann::json answer();
  nlohmann::json ask(const nlohmann::json& question);

  Child child_;
  std::filesystem::path log_;
  std::vector<std::string> benches_;
};

}  // namespace opgate
