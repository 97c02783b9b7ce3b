// The full list of cases, made without running any.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <string_view>
#include <vector>

#include "plan/calls.h"

namespace opgate {

/// What the user asked for; shell patterns (*, ?, [...]). Empty lists ask for everything.
struct Filter {
  std::vector<std::string> ops;
  std::vector<std::string> checks;
  std::vector<std::string> devices;
  std::vector<std::string> cases;
  /// Also the checks that defects are planted for, each on those defects and their twins.
  bool planted = false;
};

void to_json(nlohmann::json& json, const Filter& filter);
void from_json(const nlohmann::json& json, Filter& filter);

/// A pattern that matches this text and nothing else.
std::string pattern_of(std::string_view text);

/// Sorted by what it is made of: operators by id, then devices, samples in the order of the spec, dtypes,
/// variants, checks by id. The same in every process that has the same specs, checks and filter.
struct Plan {
  Calls calls;

  size_t cases() const { return calls.cases(); }
  /// Two runs with the same digest planned the same cases.
  std::string digest() const { return calls.digest(); }
};

/// Throws SetupError where a pattern of the filter matches nothing: a sweep that silently did not run is the
/// worst result there is.
Plan make_plan(const std::vector<Spec>& specs, const std::vector<Check>& checks, const Filter& filter = {});

/// CALL/CHECK
std::string case_id(const PlannedCall& call, const Check& check);

/// Every check of the engine, sorted by id; those of the Python half are appended by the supervisor.
std::vector<Check> native_checks();

/// The check of that id. Throws SetupError that lists what there is.
const Check& find_check(const std::vector<Check>& checks, std::string_view id);

}  // namespace opgate
