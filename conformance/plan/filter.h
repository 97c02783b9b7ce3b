// Which of all cases a user selects.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <vector>

namespace opgate {

/// What the user selected, as shell patterns (*, ?, [...]). An empty list selects everything.
struct Filter {
  std::vector<std::string> ops;
  std::vector<std::string> checks;
  std::vector<std::string> devices;
  std::vector<std::string> cases;
  /// Also selects, for each planted defect and its twin, the check that the defect was planted for.
  bool planted = false;
  /// The order of the operators: "" by id, "reversed", or a number that seeds a random order.
  std::string order = {};
  /// Whether calls on the simulated CUDA device are planned beside those on CUDA; see choose_simulator().
  bool simulated = false;
  /// An expression of words of case ids; see Keywords. Empty: all cases.
  std::string keywords = {};

  bool operator==(const Filter&) const = default;

  /// Whether single cases are chosen, so that a call may have only some of its checks.
  bool chooses_cases() const { return !cases.empty() || !keywords.empty(); }
};

void to_json(nlohmann::json& json, const Filter& filter);
void from_json(const nlohmann::json& json, Filter& filter);

}  // namespace opgate
