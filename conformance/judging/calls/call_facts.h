// A summary of what a call returned. The gate compares it, besides the verdicts, with that of a later run.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "judging/calls/call_under_test.h"

namespace opgate {

struct CallFacts {
  /// The metadata of each tensor that the call returned: "float32 [4, 8] strides (8, 1)"; only "raises"
  /// where the call raised. The stride of a dim of size 0 or 1 has no meaning and is written as "-".
  std::vector<std::string> outputs;
  /// The first 16 hexadecimal digits of digest() of the results, for contiguous calls of operators that
  /// promise `deterministic`; empty for all others.
  std::string bits;
  /// For contiguous calls, to_text() of a ValueSummary for each tensor that the call returned, and for each
  /// one that the reference returned, where a check asked for the reference. Empty for a result whose values
  /// the spec leaves unspecified. There are none for an operator that draws random numbers.
  std::vector<std::string> values = {};
  std::vector<std::string> reference = {};
  /// For contiguous calls with results and a reference that a check asked for: the trivial answers, such as
  /// "zeros", that the reference accepts as well, see trivial_answers.h. None if nothing was tried.
  std::optional<std::vector<std::string>> trivial = {};
  /// For contiguous calls: the other operators that the operator called, without PyTorch's, as their schemas
  /// begin: "mine::scale".
  std::set<std::string> called = {};
};

/// The facts of a call; makes the call if it was not observed yet.
CallFacts facts_of(CallUnderTest& under_test);

/// The results of a call whose facts have values. Those that the spec leaves unspecified are undefined.
std::vector<at::Tensor> compared_results(CallUnderTest& under_test);

void to_json(nlohmann::json& json, const CallFacts& facts);
void from_json(const nlohmann::json& json, CallFacts& facts);

}  // namespace opgate
