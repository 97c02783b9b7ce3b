#include "spec/coverage.h"

#include "base/json_fields.h"

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

OPGATE_JSON_FIELDS(Coverage, covered, not_covered)

}  // namespace opgate
