// What operators are registered with in a Python process, where the modules of opgate.toml have registered
// kernels, too.
#include <ATen/core/function_schema.h>
#include <pybind11/stl.h>

#include <nlohmann/json.hpp>
#include <set>

#include "base/errors.h"
#include "python/binding/loaded.h"
#include "python/binding/parts.h"
#include "spec/registration.h"
#include "spec/schema/function_schema.h"
#include "spec/specs.h"

namespace opgate {
namespace {

namespace py = pybind11;

py::object registrations(const std::vector<std::string>& others) {
  OpRegistrations found;
  for (const Spec& spec : loaded().subjects) {
    if (spec.op) found[spec.name] = registration_of(*spec.op);
  }
  for (const std::string& name : others) {
    if (const auto op = find_op(name)) found[name] = registration_of(*op);
  }
  return py::module_::import("json").attr("loads")(nlohmann::json(found).dump());
}

std::string schema_of(const std::string& op) {
  const auto found = find_op(op);
  if (!found)
    throw spec_error("no operator is named {}: check the name, and import the module that registers it", op);
  return c10::toString(found->schema());
}

// `seen` is a line {"function"} of record/log.h.
std::pair<std::string, std::set<std::string>> function_schema(const std::string& seen) {
  const nlohmann::json line = nlohmann::json::parse(seen);
  FunctionSchema schema;
  schema.add(line);
  for (const auto& [op, types] : line.at("operators").items()) {
    if (const std::string misfit = schema.misfit(op); !misfit.empty())
      throw spec_error("{}: there is a call {}", line.at("function").get<std::string>(), misfit);
  }
  const std::optional<std::string> text = schema.text();
  if (!text) throw spec_error("{}: no call has returned", line.at("function").get<std::string>());
  return {*text, schema.tuples()};
}

}  // namespace

void define_operators(py::module_& module) {
  module.def("registrations", &registrations,
             "The kernels and tags that this process has for each operator with a spec and for those named, "
             "by name.",
             py::arg("others"));
  module.def(
      "schema", &schema_of,
      "The registered schema of \"ns::op.overload\". Raises RuntimeError if there is no such operator.",
      py::arg("op"));
  module.def(
      "function_schema", &function_schema,
      "The schema of a function from what its calls have shown, which is JSON as record/log.h describes "
      "it, and the names of the arguments that it gets as tuples. Raises RuntimeError if no call has "
      "returned, or if calls give an argument values of types that have nothing in common.",
      py::arg("seen"));
}

}  // namespace opgate
