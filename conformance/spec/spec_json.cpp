#include "spec/spec_json.h"

#include <fmt/format.h>
#include <torch/library.h>

#include <list>
#include <set>

#include "spec/sample_json.h"
#include "spec/specs.h"

namespace opgate {
namespace {

using nlohmann::json;

Accuracy described_accuracy(const json& described) {
  Accuracy accuracy = described.at("ulps").is_null() ? exact() : ulps(described.at("ulps").get<double>());
  accuracy.by_inputs = described.at("by_inputs");
  return accuracy;
}

// Stands for a reference that is a Python function in processes without Python. The binding replaces it.
Reference python_reference(const std::string& where) {
  return [where](const c10::OperatorHandle&, torch::jit::Stack&) {
    throw SpecError(
        fmt::format("{}: this reference is a Python function, which this process cannot call", where));
  };
}

Spec op_from_json(const json& described) {
  Spec spec;
  spec.where = described.at("where");
  spec.in_python = true;
  if (described.at("reference").is_string()) {
    spec.reference_op = described.at("reference");
    spec.reference = reference_by_name(spec.reference_op, spec.where);
  } else if (described.at("reference").get<bool>()) {
    spec.reference = python_reference(spec.where);
  }
  spec.draft = described.at("draft");
  if (described.at("scale").get<bool>()) spec.scale = python_reference(spec.where);
  if (!described.at("accuracy").is_null()) spec.accuracy = described_accuracy(described.at("accuracy"));
  if (!described.at("gradient_accuracy").is_null())
    spec.gradient_accuracy = described_accuracy(described.at("gradient_accuracy"));
  for (const json& word : described.at("promises")) spec.promises.insert(known_promise(word, spec.where));
  for (const json& rejected : described.at("rejections"))
    spec.rejections.push_back({sample_from_json(rejected), rejected.at("because")});
  described.at("trusted").get_to(spec.trusted);
  described.at("wants_contiguous").get_to(spec.wants_contiguous);
  described.at("unspecified").get_to(spec.unspecified);
  if (const json& planted = described.at("planted"); !planted.is_null())
    spec.planted = Planted{planted.at("check"), planted.at("twin")};
  return spec;
}

Spec model_from_json(const json& described) {
  Spec spec;
  spec.kind = Spec::Kind::model;
  spec.where = described.at("where");
  spec.accuracy = exact();
  return spec;
}

}  // namespace

namespace {

// The operators that define_schema() has defined in this process.
std::set<std::string>& only_schemas() {
  static std::set<std::string> names;
  return names;
}

}  // namespace

bool is_defined_in_cpp(const std::string& name) {
  return find_op(name).has_value() && !only_schemas().contains(name);
}

void define_schema(const std::string& name, const std::string& schema, const std::string& where) {
  static std::list<torch::Library> libraries;
  if (only_schemas().contains(name)) return;
  try {
    libraries
        .emplace_back(torch::Library::FRAGMENT, name.substr(0, name.find("::")), std::nullopt,
                      "a spec written in Python", 0)
        .def(schema.c_str());
  } catch (const c10::Error& error) {
    throw SpecError(fmt::format("{}: {}", where, error.what_without_backtrace()));
  }
  only_schemas().insert(name);
}

Spec spec_from_json(const json& described) {
  try {
    const bool is_op = described.at("kind") == "op";
    Spec spec = is_op ? op_from_json(described) : model_from_json(described);
    spec.name = described.at("name");
    for (const auto& [device, names] : described.at("dtypes").items()) {
      for (const json& name : names) spec.dtypes[known_device(device)].push_back(known_dtype(name));
    }
    for (const json& sample : described.at("samples")) spec.samples.push_back(sample_from_json(sample));
    if (!is_op) return spec;
    complete_draft(spec);
    validate(spec);
    spec.kernels_in_python = !is_defined_in_cpp(spec.name);
    if (spec.kernels_in_python) define_schema(spec.name, described.at("schema"), spec.where);
    return spec;
  } catch (const json::exception& error) {
    throw SpecError(fmt::format("not the description of a spec: {} ({})", described.dump(), error.what()));
  }
}

}  // namespace opgate
