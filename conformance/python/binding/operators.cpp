#include "python/binding/operators.h"

#include <ATen/core/function_schema.h>
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "spec/function_schema.h"
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

std::pair<std::string, std::set<std::string>> function_schema(const std::string& seen) {
  const nlohmann::json line = nlohmann::json::parse(seen);
  FunctionSchema schema;
  schema.add(line);
  for (const auto& [op, types] : line.at("operators").items()) {
    if (const std::string misfit = schema.misfit(op); !misfit.empty())
      throw SpecError(fmt::format("{}: there is a call {}", line.at("function").get<std::string>(), misfit));
  }
  const std::optional<std::string> text = schema.text();
  if (!text) throw SpecError(fmt::format("{}: no call has returned", line.at("function").get<std::string>()));
  return {*text, schema.tuples()};
}

}  // namespace opgate
