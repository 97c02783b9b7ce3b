#include "spec/coverage.h"

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>

#include "spec/spec.h"

namespace opgate {

Coverage coverage_of(const std::set<std::string>& operators, const std::vector<Spec>& subjects) {
  std::set<std::string> specified;
  for (const Spec& spec : subjects) specified.insert(spec.name);
  Coverage coverage;
  for (const std::string& name : operators)
    (specified.contains(name) ? coverage.covered : coverage.not_covered).insert(name);
  return coverage;
}

void to_json(nlohmann::json& json, const Coverage& coverage) {
  json = {{"covered", coverage.covered}, {"not_covered", coverage.not_covered}};
}

void from_json(const nlohmann::json& json, Coverage& coverage) {
  json.at("covered").get_to(coverage.covered);
  json.at("not_covered").get_to(coverage.not_covered);
}

}  // namespace opgate
