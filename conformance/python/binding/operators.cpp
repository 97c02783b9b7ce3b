#include "python/binding/operators.h"

#include <ATen/core/function_schema.h>
#include <fmt/format.h>

#include "spec/specs.h"

namespace opgate {

OpRegistrations registrations_of(const std::vector<Spec>& subjects, const std::vector<std::string>& others) {
  OpRegistrations found;
  for (const Spec& spec : subjects) {
    if (spec.op) found[spec.name] = registration_of(*spec.op);
  }
  for (const std::string& name : others) {
    if (const auto op = find_op(name)) found[name] = registration_of(*op);
  }
  return found;
}

std::string schema_of(const std::string& op) {
  const auto found = find_op(op);
  if (!found)
    throw SpecError(
        fmt::format("no operator is named {}: check the name, and import the module that registers it", op));
  return c10::toString(found->schema());
}

}  // namespace opgate
