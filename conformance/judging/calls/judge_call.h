// Makes one call and collects the verdicts of its checks.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "judging/calls/call_facts.h"
#include "judging/check.h"
#include "judging/verdict.h"

namespace opgate {

class DeviceFailed;

/// The verdict on a call during which the simulated device failed.
Judgement crash_of(const DeviceFailed& failed);

/// Makes the call once and lets each of the checks judge it; the result has a judgement for each check's id.
/// An error of the engine or of the set-up becomes an invalid verdict. Sets `facts`, unless it is null, where
/// a check observed the call of an operator in a dtype that its spec declares. Where `cache` names a folder
/// for results, those of contiguous calls are kept there; throws SetupError if they cannot be written.
std::map<std::string, Judgement> judge_call(const CallKey& key, const std::vector<const Check*>& checks,
                                            WorkerCache& cache, std::optional<CallFacts>* facts = nullptr);

}  // namespace opgate
