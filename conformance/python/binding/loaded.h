// What a Python process has loaded: its subjects and checks. All parts of the module opgate._engine use them.
#pragma once

#include <string>
#include <vector>

#include "inputs/call_key.h"
#include "judging/calls/call_under_test.h"
#include "judging/check.h"
#include "spec/spec.h"

namespace opgate {

struct Loaded {
  std::vector<Spec> subjects;
  WorkerCache cache;
  std::vector<Check> checks;
};

/// There is one in a process, as there is one registry of torch. It has no subjects before Python calls
/// load().
Loaded& loaded();

/// The call that an id names. Throws SpecError if the process has no such subject, dtype, sample or device.
CallKey loaded_call(const std::string& id);

}  // namespace opgate
