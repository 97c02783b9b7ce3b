// What is known about an operator, model or class without calling it. The gate compares it with a later
// state.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <optional>
#include <string>
#include <vector>

#include "spec/spec.h"

namespace opgate {

/// What is known about a subject without calling it.
struct SubjectFacts {
  std::string schema;                 ///< empty unless the subject is an operator
  std::vector<std::string> kernels;   ///< dispatch keys for which the loaded libraries have a kernel
  std::vector<std::string> promises;  ///< names, sorted
  std::optional<double> ulps;         ///< the promised accuracy; none if it is exact, or for a class
  std::string where;                  ///< file:line of the spec
  std::string sources = "";           ///< digest of the sources; empty if they are not on this machine
};

SubjectFacts facts_of(const Spec& spec);

void to_json(nlohmann::json& json, const SubjectFacts& facts);
void from_json(const nlohmann::json& json, SubjectFacts& facts);

}  // namespace opgate
