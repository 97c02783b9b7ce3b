// The results of base and head on the same arguments, compared element by element.
#pragma once

#include <map>
#include <string>

#include "compare/result_difference.h"

namespace opgate {

struct Change;

/// By id of the call.
using ValueDifferences = std::map<std::string, ResultDifference>;

/// Compares the results that two runs kept in the folders outputs/ beside results.jsonl. Calls without kept
/// results on both sides are left out. Empty if the base is a ledger. Throws SetupError for a damaged file.
ValueDifferences value_differences(const Change& change);

/// The id of the contiguous call: "scale/float32/4x8/contiguous/cpu".
std::string contiguous_call(const std::string& id, const std::string& dtype, const std::string& sample,
                            const std::string& device);

}  // namespace opgate
