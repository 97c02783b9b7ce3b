#include <ATen/core/class_type.h>
#include <ATen/core/function.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <torch/custom_class.h>

#include <algorithm>

#include "base/errors.h"
#include "spec/class_promises.h"
#include "spec/spec.h"
#include "spec/specs.h"

namespace opgate {
namespace {

// Throws unless the spec has constructor arguments, a model, and methods of that model.
void check_complete(const Spec& spec) {
  const ClassPromises& promises = *spec.torch_class;
  if (spec.samples.empty()) {
    throw spec_error("{}: the spec of {} names no constructor arguments: add spec.construct(...)", spec.where,
                     spec.name);
  }
  if (promises.model.make == nullptr) {
    throw spec_error("{}: the spec of {} names no model: add spec.{}, which behaves as the class must",
                     spec.where, spec.name, spec.in_python ? "model(Model)" : "model<Model(int64_t)>()");
  }
  if (promises.methods.empty()) {
    throw spec_error("{}: the spec of {} names no method: add spec.method(\"forward\", {})", spec.where,
                     spec.name,
                     spec.in_python ? "(opgate.uniform(4, 8),)" : "&Model::forward).with({uniform({4, 8})}");
  }
  for (const ClassMethod& method : promises.methods) {
    if (method.model_type == promises.model.model_type) continue;
    throw spec_error("{}: the function given for {} takes another model than spec.model<...>() makes",
                     method.where, method.name);
  }
}

c10::ClassTypePtr find_class(const std::string& name) {
  const auto colon = name.find("::");
  if (colon == std::string::npos) return nullptr;
  return torch::getCustomClass(
      fmt::format("__torch__.torch.classes.{}.{}", name.substr(0, colon), name.substr(colon + 2)));
}

const c10::FunctionSchema& schema_of(const c10::ClassType& type, const std::string& method,
                                     const std::string& where) {
  if (const auto* found = type.findMethod(method)) return found->getSchema();
  std::vector<std::string> names;
  for (const auto* other : type.methods()) names.push_back(other->name());
  std::ranges::sort(names);
  throw spec_error("{}: the class {} has no method '{}'; there are: {}", where, type.name()->name(), method,
                   fmt::join(names, ", "));
}

std::string type_names(const std::vector<c10::TypePtr>& types) {
  std::vector<std::string> names;
  for (const c10::TypePtr& type : types) names.push_back(type->str());
  return fmt::format("({})", fmt::join(names, ", "));
}

// Throws unless the model's function accepts every call that the schema accepts. A model in Python has no
// types to look at; what it cannot take or give shows when it is called.
void check_model_takes(const std::vector<c10::TypePtr>& takes, const c10::FunctionSchema& schema,
                       const std::string& where) {
  const auto& formals = schema.arguments();
  bool fits = takes.size() + 1 == formals.size();
  for (size_t i = 0; fits && i < takes.size(); ++i) fits = formals[i + 1].type()->isSubtypeOf(*takes[i]);
  if (fits) return;
  throw spec_error("{}: the model takes {}, which does not fit the class's {}", where, type_names(takes),
                   c10::toString(schema));
}

void check_model_gives(const ClassMethod& method, const c10::FunctionSchema& schema) {
  const c10::TypePtr& wanted = schema.returns().at(0).type();
  if (method.gives->isSubtypeOf(*wanted)) return;
  throw spec_error("{}: the model of {} gives {}, but the class gives {}: {}", method.where, method.name,
                   method.gives->str(), wanted->str(), c10::toString(schema));
}

void refuse_generators(const Sample& sample) {
  for (const Argument& argument : sample.arguments) {
    if (argument.generator() == nullptr) continue;
    throw spec_error("{}: generator(...) is for operators; give a class an integer seed", sample.where);
  }
}

}  // namespace

void fit_to_class(Spec& spec) {
  check_complete(spec);
  ClassPromises& promises = *spec.torch_class;
  promises.type = find_class(spec.name);
  if (promises.type == nullptr) {
    throw spec_error(
        "{}: no loaded library registers the class {}; it is written \"namespace::Class\"; check "
        "its name, and `libraries` in opgate.toml",
        spec.where, spec.name);
  }
  const c10::FunctionSchema& constructor = schema_of(*promises.type, "__init__", spec.where);
  if (!spec.in_python) check_model_takes(promises.model.takes, constructor, spec.where);
  for (Sample& sample : spec.samples) {
    refuse_generators(sample);
    fit_sample(sample, constructor, 1);
  }
  for (ClassMethod& method : promises.methods) {
    const c10::FunctionSchema& schema = schema_of(*promises.type, method.name, method.where);
    if (!spec.in_python) check_model_takes(method.takes, schema, method.where);
    if (!spec.in_python) check_model_gives(method, schema);
    if (method.calls.empty()) method.calls.push_back({"", {}, method.where});
    for (Sample& call : method.calls) {
      refuse_generators(call);
      fit_sample(call, schema, 1);
    }
  }
  const auto has = [&](const char* method) { return promises.type->findMethod(method) != nullptr; };
  if (promises.exported || has("__getstate__")) spec.promises.insert(Promise::picklable);
  if (promises.exported || has("__obj_flatten__")) spec.promises.insert(Promise::flattenable);
}

}  // namespace opgate
