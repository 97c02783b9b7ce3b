#include "spec/json/spec_json.h"

#include <torch/library.h>

#include <algorithm>
#include <list>
#include <set>

#include "base/dtypes.h"
#include "base/errors.h"
#include "spec/json/bench_json.h"
#include "spec/json/class_json.h"
#include "spec/json/sample_json.h"
#include "spec/schema/function_name.h"
#include "spec/schema/registered_name.h"
#include "spec/specs.h"

namespace opgate {
namespace {

using nlohmann::json;

// Stands for a reference that is a Python function in processes without Python. The binding replaces it.
Reference python_reference(const std::string& where) {
  return [where](const c10::OperatorHandle&, torch::jit::Stack&) {
    throw spec_error("{}: this reference is a Python function, which this process cannot call", where);
  };
}

// What a spec begins with if it is like another one in C++, for other kernels that compute the same:
// everything but the benches, which time operators in C++, and the samples that are left out. Throws
// SpecError if `known` has no such spec, or the spec no such sample.
Spec like(const json& described, const std::string& where, const std::vector<Spec>& known) {
  const std::string name = described.at("operator");
  const auto found = std::ranges::find(known, name, &Spec::name);
  if (found == known.end() || found->in_python || found->kind != Spec::Kind::op)
    throw spec_error("{}: spec.like: {} has no spec in C++", where, name);
  Spec spec = *found;
  spec.benches.clear();
  spec.planted.reset();
  for (const std::string sample : described.at("without")) {
    if (std::erase_if(spec.samples, [&](const Sample& each) { return each.name == sample; }) == 0)
      throw spec_error("{}: spec.like: {} has no sample '{}'", where, name, sample);
  }
  return spec;
}

Spec op_from_json(const json& described, const std::vector<Spec>& known) {
  Spec spec;
  if (const json& other = described.at("like"); !other.is_null())
    spec = like(other, described.at("where"), known);
  spec.where = described.at("where");
  spec.in_python = true;
  if (described.at("reference").is_string()) {
    spec.reference_op = described.at("reference");
    spec.reference = reference_by_name(spec.reference_op, spec.where);
  } else if (described.at("reference").get<bool>()) {
    spec.reference = python_reference(spec.where);
  }
  if (described.at("draft")) spec.draft = true;
  if (const auto promised = accuracy_from_json(described.at("accuracy"))) {
    spec.accuracy = promised;
    spec.scale = described.at("scale").get<bool>() ? python_reference(spec.where) : nullptr;
  }
  if (const auto promised = accuracy_from_json(described.at("gradient_accuracy")))
    spec.gradient_accuracy = promised;
  for (const json& word : described.at("promises")) spec.promises.insert(known_promise(word, spec.where));
  for (const json& rejected : described.at("rejections"))
    spec.rejections.push_back({sample_from_json(rejected), rejected.at("because"), rejected.at("raises")});
  for (const auto& [word, names] : described.at("named").items()) {
    const json& values = names;  // a lambda cannot capture a structured binding
    std::visit(
        [&](const auto member) {
          const auto added = values.get<std::remove_reference_t<decltype(spec.*member)>>();
          (spec.*member).insert(added.begin(), added.end());
        },
        naming_word(word).names);
  }
  if (const json& planted = described.at("planted"); !planted.is_null())
    spec.planted = Planted{planted.at("check"), planted.at("twin")};
  return spec;
}

void add_benches(const json& described, Spec& spec) {
  for (const json& each : described) {
    Bench bench = bench_from_json(each);
    const auto refuse = [&](const char* why) {
      throw spec_error("{}: bench '{}' of {} {}", bench.sample.where, bench.sample.name, spec.name, why);
    };
    if (spec.kernels_in_python) refuse("cannot be timed: `opgate bench` times operators written in C++ only");
    if (!bench.baseline && spec.reference && spec.reference_op.empty())
      refuse(
          "needs against=\"aten::...\", an operator: the reference is a Python function, and is not timed");
    spec.benches.push_back(std::move(bench));
  }
}

Spec class_from_json(const json& described) {
  Spec spec;
  spec.where = described.at("where");
  spec.accuracy = accuracy_from_json(described.at("accuracy")).value_or(exact());
  read_class(described, spec);
  return spec;
}

Spec model_from_json(const json& described) {
  Spec spec;
  spec.kind = Spec::Kind::model;
  spec.where = described.at("where");
  if (described.at("scale").get<bool>()) spec.scale = python_reference(spec.where);
  spec.accuracy = accuracy_from_json(described.at("accuracy"));
  return spec;
}

}  // namespace

json to_json(const std::optional<Accuracy>& accuracy) {
  if (!accuracy) return nullptr;
  return {{"ulps", accuracy->exact ? json() : json(accuracy->ulps)},
          {"by_inputs", accuracy->by_inputs},
          {"dtype", accuracy->dtype ? json(dtype_name(*accuracy->dtype)) : json()},
          {"input_dtype", accuracy->input_dtype}};
}

std::optional<Accuracy> accuracy_from_json(const json& described) {
  if (described.is_null()) return std::nullopt;
  Accuracy accuracy = described.at("ulps").is_null() ? exact() : ulps(described.at("ulps").get<double>());
  accuracy.by_inputs = described.at("by_inputs");
  accuracy.input_dtype = described.at("input_dtype");
  if (!described.at("dtype").is_null()) accuracy.dtype = known_dtype(described.at("dtype"));
  return accuracy;
}

namespace {

// The names of the operators that define_schema() has defined in this process.
std::set<std::string>& only_schemas() {
  static std::set<std::string> names;
  return names;
}

}  // namespace

bool is_defined_in_cpp(const std::string& name) {
  return find_op(name).has_value() && !only_schemas().contains(operator_of(name));
}

std::set<std::string> operators_defined_in_cpp() {
  std::set<std::string> names;
  for (const c10::OperatorName& op : c10::Dispatcher::singleton().getAllOpNames()) {
    std::string name = stable_name(c10::toString(op));
    if (is_defined_in_cpp(name)) names.insert(std::move(name));  // others have a kernel and no schema
  }
  return names;
}

void define_schema(const std::string& name, const std::string& schema, const std::string& where) {
  static std::list<torch::Library> libraries;
  const std::string op = operator_of(name);
  if (only_schemas().contains(op)) return;
  try {
    libraries
        .emplace_back(torch::Library::FRAGMENT, op.substr(0, op.find("::")), std::nullopt,
                      "a spec written in Python", 0)
        .def(with_name_of_operator(schema).c_str());
  } catch (const c10::Error& error) {
    throw spec_error("{}: {}", where, error.what_without_backtrace());
  }
  only_schemas().insert(op);
}

Spec spec_from_json(const json& described, const std::vector<Spec>& known) {
  try {
    const std::string kind = described.at("kind");
    Spec spec = kind == "op"      ? op_from_json(described, known)
                : kind == "class" ? class_from_json(described)
                                  : model_from_json(described);
    spec.name = described.at("name");
    if (!described.at("dtypes").empty()) spec.dtypes.clear();
    for (const auto& [device, names] : described.at("dtypes").items()) {
      for (const json& name : names) spec.dtypes[known_device(device)].push_back(known_dtype(name));
    }
    for (const json& sample : described.at("samples")) spec.samples.push_back(sample_from_json(sample));
    if (kind == "op") complete_draft(spec);
    if (kind != "model") validate(spec);
    if (kind != "op") return spec;
    spec.kernels_in_python = !is_defined_in_cpp(spec.name);
    add_benches(described.at("benches"), spec);
    if (spec.kernels_in_python) define_schema(spec.name, described.at("schema"), spec.where);
    return spec;
  } catch (const json::exception& error) {
    throw spec_error("not the description of a spec: {} ({})", described.dump(), error.what());
  }
}

}  // namespace opgate
