// What the samples of an operator cannot tell: trivial answers that would pass.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

#include "judging/calls/call_facts.h"

namespace opgate {

/// Collects which trivial answers pass for the sampled calls of each operator.
class SampleNotes {
 public:
  void add(std::string_view call_id, const CallFacts& facts);

  /// The answers that pass in most calls of an operator, or in all calls of a dtype. Operators with the same
  /// ones share a line; empty if there is none: "  crop: samples cannot distinguish the results from zeros in
  /// 4 of 6 calls, from `x` unchanged in all calls of bool (value.reference)\n"
  std::string text() const;

 private:
  using Calls = std::map<std::string, std::set<std::string>>;  // samples by dtype
  struct OfOperator {
    Calls asked;
    std::map<std::string, Calls> passing;  // by answer
  };
  std::map<std::string, OfOperator, std::less<>> operators_;
};

}  // namespace opgate
