// The full list of cases, made without running any of them.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <string_view>
#include <vector>

#include "plan/calls.h"

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

  /// Whether single cases are chosen, so that a call may have only some of its checks.
  bool chooses_cases() const { return !cases.empty() || !keywords.empty(); }
};

/// Throws SetupError for another text.
void demand_order(const std::string& order);

void to_json(nlohmann::json& json, const Filter& filter);
void from_json(const nlohmann::json& json, Filter& filter);

/// A pattern that matches this text and nothing else.
std::string pattern_of(std::string_view text);

/// All calls: operators sorted by id, or as the filter orders them, then devices, samples in the order of the
/// spec, dtypes, variants, checks by id. The plan is the same in every process that has the same specs,
/// checks and filter.
struct Plan {
  Calls calls;

  size_t cases() const { return calls.cases(); }
  /// Two runs with the same digest planned the same cases.
  std::string digest() const { return calls.digest(); }
};

/// Throws SetupError if a pattern of the filter matches nothing, because a run that silently checks
/// nothing looks like one that passes.
Plan make_plan(const std::vector<Spec>& specs, const std::vector<Check>& checks, const Filter& filter = {});

/// CALL/CHECK
std::string case_id(const PlannedCall& call, const Check& check);

}  // namespace opgate
