// Finds out why a result depends on the layout: imitates the usual mistakes on the same memory, and names
// the one that gives exactly the operator's result.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "judging/calls/call_under_test.h"

namespace opgate {

struct LayoutDiagnosis {
  std::string cause;    ///< a clause for Finding::likely; empty if no usual mistake explains the result
  std::string mistake;  ///< of `cause`, what is the same for every call; set where `imitated` or `kept`
  bool imitated =
      false;          ///< a usual mistake gives exactly the operator's result; otherwise the cause is a guess
  bool kept = false;  ///< not the layout: the operator keeps something from calls with the same sizes
  /// The operator's calls where an `imitated` mistake reads the argument, the innermost first: "scale_rows at
  /// kernels.cpp:41". Empty on devices other than the CPU, and if PyTorch's own code reads it.
  std::vector<std::string> read_in = {};
};

/// The mistake of an operator that finds what it keeps by sizes alone.
std::string mistake_of_kept_strides(std::string_view argument);

LayoutDiagnosis diagnose_layout(CallUnderTest& under_test);

}  // namespace opgate
