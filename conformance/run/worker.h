// The native worker: runs calls under instruments and lets the checks judge.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "checks/facts.h"
#include "plan/plan.h"

namespace opgate {

/// Runs one call, once, and lets each of the checks judge it. An engine or set-up error becomes an invalid
/// verdict. Sets `facts`, if they are asked for and a check looked at the call of an operator, in a dtype
/// that it promises.
std::map<std::string, Judgement> judge_call(const CallKey& key, const std::vector<const Check*>& checks,
                                            Workbench& bench, std::optional<CallFacts>* facts = nullptr);

/// Serves the protocol on stdin and kAnswerDescriptor until stdin ends. Returns the exit status.
int serve_as_worker();

}  // namespace opgate
