#include "python/binding/reference.h"

#include <fmt/format.h>
#include <pybind11/stl.h>
#include <torch/csrc/jit/python/pybind_utils.h>

#include "base/errors.h"

namespace opgate {
namespace {

namespace py = pybind11;

// Pushes the results of a Python function, converted to the types that the schema returns.
void push_results(const c10::FunctionSchema& schema, const py::object& returned, torch::jit::Stack& stack) {
  const std::vector<c10::Argument>& formals = schema.returns();
  if (formals.empty()) return;
  if (formals.size() == 1) {
    stack.push_back(torch::jit::toIValue(returned, formals[0].type()));
    return;
  }
  const auto results = returned.cast<std::vector<py::object>>();
  if (results.size() != formals.size())
    throw spec_error("the reference returns {} results, the operator {}", results.size(), formals.size());
  for (size_t i = 0; i < results.size(); ++i)
    stack.push_back(torch::jit::toIValue(results[i], formals[i].type()));
}

}  // namespace

py::object call_function(const py::object& function, const py::list& positional, const py::dict& keywords) {
  try {
    return function(*positional, **keywords);
  } catch (py::error_already_set& error) {
    throw std::runtime_error(fmt::format("{}: {}", error.type().attr("__name__").cast<std::string>(),
                                         py::str(error.value()).cast<std::string>()));
  }
}

Reference reference_from_python(py::object function) {
  return [function = std::move(function)](const c10::OperatorHandle& op, torch::jit::Stack& stack) {
    const py::gil_scoped_acquire locked;
    const std::vector<c10::Argument>& formals = op.schema().arguments();
    py::list positional;
    py::dict keywords;
    for (size_t i = 0; i < stack.size(); ++i) {
      py::object value = torch::jit::toPyObject(stack[i]);
      if (formals[i].kwarg_only())
        keywords[py::str(formals[i].name())] = value;
      else
        positional.append(value);
    }
    stack.clear();
    push_results(op.schema(), call_function(function, positional, keywords), stack);
  };
}

}  // namespace opgate
