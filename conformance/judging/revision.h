// What verdicts mean: a verdict that an older OpGate has given stays good if its check asks the same today.
// fixtures/revisions.toml has the cases and verdicts of each revision, and a test compares.
#pragma once

#include <string>

namespace opgate {

struct Check;

/// Raised if a call of the same id gets other arguments: other values, another layout, another bad input.
inline constexpr int kRevisionOfArguments = 1;
/// Raised if results that were right are wrong now, or the other way round, whichever check compares them:
/// by another reference, tolerance, or comparison.
inline constexpr int kRevisionOfComparison = 1;

/// The revision of the check, of the arguments that it calls with, and of comparison: "1.1.1".
std::string revision_of(const Check& check);

}  // namespace opgate
