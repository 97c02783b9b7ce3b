// Finds out why a result depends on the layout: imitates the usual mistakes on the same memory, and names
// the one that gives exactly the operator's result.
#pragma once

#include <string>

#include "judging/call_under_test.h"

namespace opgate {

/// A clause that names the cause, for Finding::likely; empty where no usual mistake explains the result.
std::string diagnose_layout(CallUnderTest& under_test);

}  // namespace opgate
