// Which operators of the loaded libraries and modules have a spec or recorded calls, and which nothing
// checks.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <set>
#include <string>
#include <vector>

namespace opgate {

struct Spec;

/// Names of overloads: "namespace::op" or "namespace::op.overload".
struct Coverage {
  std::set<std::string> covered;
  std::set<std::string> not_covered;

  size_t operators() const { return covered.size() + not_covered.size(); }
  bool operator==(const Coverage&) const = default;
};

/// `operators` are those that the project defines. Subjects that it does not define, such as a spec of an
/// operator of PyTorch, are not counted.
Coverage coverage_of(const std::set<std::string>& operators, const std::vector<Spec>& subjects);

void to_json(nlohmann::json& json, const Coverage& coverage);
void from_json(const nlohmann::json& json, Coverage& coverage);

}  // namespace opgate
