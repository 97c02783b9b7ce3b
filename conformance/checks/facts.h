// What a call returned, in few words: what a later run is compared with, besides its verdicts.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <optional>
#include <string>
#include <vector>

#include "call/evidence.h"

namespace opgate {

struct CallFacts {
  /// Of each tensor that the call returned, its metadata: "float32 [4, 8] strides (8, 1)"; "raises" where it
  /// raised. Strides of sizes below 2 say nothing and are "-".
  std::vector<std::string> outputs;
  /// The beginning of digest() of the results; only of contiguous calls of operators that promise to be
  /// deterministic.
  std::string bits;
};

/// Of a call that was observed.
CallFacts facts_of(Evidence& evidence);

/// What can be known of a subject without calling it.
struct SubjectFacts {
  std::string schema;                 ///< of an operator
  std::vector<std::string> kernels;   ///< dispatch keys that the loaded libraries have a kernel for
  std::vector<std::string> promises;  ///< by name, sorted
  std::optional<double> ulps;  ///< the accuracy that is promised; none where it is exact, or of a class
  std::string where;           ///< file:line of the spec
  std::string sources = "";    ///< digest of what it is made from; empty where that is not there
};

SubjectFacts facts_of(const Spec& spec);

void to_json(nlohmann::json& json, const CallFacts& facts);
void from_json(const nlohmann::json& json, CallFacts& facts);
void to_json(nlohmann::json& json, const SubjectFacts& facts);
void from_json(const nlohmann::json& json, SubjectFacts& facts);

}  // namespace opgate
