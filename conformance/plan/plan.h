// The full list of cases, made without running any of them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "plan/calls.h"
#include "plan/filter.h"

namespace opgate {

/// Throws SetupError for another text.
void demand_order(const std::string& order);

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
