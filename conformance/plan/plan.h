// The full list of cases, made without running any.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "call/call_key.h"
#include "checks/check.h"

namespace opgate {

/// What the user asked for; shell patterns (*, ?, [...]). Empty lists ask for everything.
struct Filter {
  std::vector<std::string> ops;
  std::vector<std::string> checks;
  std::vector<std::string> devices;
  std::vector<std::string> cases;
};

/// One call, and the checks that will look at it. A case is a call and one of its checks.
struct PlannedCall {
  std::string id;
  CallKey key;
  std::vector<const Check*> checks;
};

/// Sorted by id. Points into the specs and checks that it was made from.
struct Plan {
  std::vector<PlannedCall> calls;

  size_t cases() const;
  /// SHA-1 over all case ids: two runs with the same digest planned the same cases.
  std::string digest() const;
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
