#include <ATen/core/function_schema.h>
#include <ATen/core/jit_type.h>
#include <c10/core/Device.h>

#include <algorithm>
#include <set>

#include "base/errors.h"
#include "base/tensors_in.h"
#include "spec/spec.h"
#include "spec/specs.h"

namespace opgate {
namespace {

// Whether an argument fits a type of the schema: a tensor fits Tensor and Tensor?, an empty list fits any
// list, and any other value must have the stated type.
bool fits(const Argument& argument, const c10::TypePtr& type) {
  if (argument.tensor() != nullptr) return c10::TensorType::get()->isSubtypeOf(*type);
  if (const auto* list = argument.tensors()) {
    const bool all_given = std::ranges::none_of(*list, &TensorArgument::is_none);
    return is_list_of_optional_tensors(type) || (all_given && c10::ListType::ofTensors()->isSubtypeOf(*type));
  }
  if (argument.is_device()) return c10::DeviceObjType::get()->isSubtypeOf(*type);
  if (argument.generator() != nullptr) return c10::GeneratorType::get()->isSubtypeOf(*type);
  const c10::IValue& value = *argument.other();
  if (type->kind() == c10::TypeKind::NumberType) return value.isScalar();
  if (type->kind() == c10::TypeKind::OptionalType) {
    return value.isNone() || fits(argument, type->castRaw<c10::OptionalType>()->getElementType());
  }
  if (type->kind() == c10::TypeKind::ListType && value.isList() && value.toListRef().empty()) return true;
  return value.type()->isSubtypeOf(*type);
}

// An integer where the schema has a floating-point number is one, as when the operator is called from Python.
void widen(Argument& argument, const c10::TypePtr& type) {
  if (type->kind() == c10::TypeKind::OptionalType)
    return widen(argument, type->castRaw<c10::OptionalType>()->getElementType());
  if (argument.other() == nullptr) return;
  const c10::IValue& value = *argument.other();
  if (type->kind() == c10::TypeKind::FloatType && value.isInt())
    argument = Argument(c10::IValue(static_cast<double>(value.toInt())));
  if (type->isSubtypeOf(*c10::ListType::ofFloats()) && value.isIntList()) {
    c10::List<double> numbers;
    for (const int64_t number : value.toIntVector()) numbers.push_back(static_cast<double>(number));
    argument = Argument(c10::IValue(numbers));
  }
}

std::string type_of(const Argument& argument) {
  if (argument.tensor() != nullptr) return "Tensor";
  if (const auto* list = argument.tensors())
    return std::ranges::any_of(*list, &TensorArgument::is_none) ? "Tensor?[]" : "Tensor[]";
  if (argument.is_device()) return "Device";
  return argument.generator() != nullptr ? "Generator" : argument.other()->type()->str();
}

// The name of a sample is a part of case ids.
void check_name(const Sample& sample) {
  if (sample.name.find('/') != std::string::npos) {
    throw spec_error(
        "{}: sample '{}' has a '/' in its name, which separates the parts of a case id; name it "
        "otherwise with .named(\"...\")",
        sample.where, sample.name);
  }
}

void check_sizes(const Sample& sample) {
  const auto check = [&](const TensorArgument& tensor) {
    if (std::ranges::all_of(tensor.shape, [](int64_t size) { return size >= 0; })) return;
    throw spec_error("{}: sample '{}' has a tensor with a negative size", sample.where, sample.name);
  };
  for (const Argument& argument : sample.arguments) {
    if (const TensorArgument* tensor = argument.tensor()) check(*tensor);
    if (const auto* list = argument.tensors()) std::ranges::for_each(*list, check);
  }
}

std::vector<Sample*> all_samples(Spec& spec) {
  std::vector<Sample*> samples;
  for (Sample& sample : spec.samples) samples.push_back(&sample);
  for (Rejection& rejection : spec.rejections) samples.push_back(&rejection.sample);
  return samples;
}

// Throws if the spec names an argument or a result that the schema does not have.
void check_names(const Spec& spec) {
  const c10::FunctionSchema& schema = spec.op->schema();
  const auto demand_argument = [&](const std::string& name, std::string_view word) {
    if (schema.argumentIndexWithName(name)) return;
    throw spec_error("{}: spec.{}(\"{}\"): {} has no such argument: {}", spec.where, word, name, spec.name,
                     schema_text(spec));
  };
  const auto demand_result = [&](size_t result, std::string_view word) {
    if (result < schema.returns().size()) return;
    throw spec_error("{}: spec.{}({}): {} has {} results: {}", spec.where, word, result, spec.name,
                     schema.returns().size(), schema_text(spec));
  };
  for (const NamingWord& word : kNamingWords) {
    if (word.of == NamingWord::Of::argument) {
      for (const std::string& name : spec.*std::get<NamingWord::Texts>(word.names))
        demand_argument(name, word.word);
    } else if (word.of == NamingWord::Of::result) {
      for (const size_t result : spec.*std::get<NamingWord::Indices>(word.names))
        demand_result(result, word.word);
    }
  }
}

}  // namespace

void fit_sample(Sample& sample, const c10::FunctionSchema& schema, size_t bound) {
  const auto& formals = schema.arguments();
  if (sample.arguments.size() + bound > formals.size()) {
    throw spec_error("{}: the sample has {} arguments, but the schema takes {}: {}", sample.where,
                     sample.arguments.size(), formals.size() - bound, c10::toString(schema));
  }
  for (size_t i = bound; i < formals.size(); ++i) {
    if (i == sample.arguments.size() + bound) {
      if (!formals[i].default_value()) {
        throw spec_error("{}: the sample gives no value for '{}', which has no default: {}", sample.where,
                         formals[i].name(), c10::toString(schema));
      }
      sample.arguments.emplace_back(*formals[i].default_value());
      ++sample.defaults;
    }
    Argument& argument = sample.arguments[i - bound];
    widen(argument, formals[i].type());
    if (!fits(argument, formals[i].type())) {
      throw spec_error("{}: the sample gives '{}' a {}, but the schema wants {}: {}", sample.where,
                       formals[i].name(), type_of(argument), formals[i].real_type()->str(),
                       c10::toString(schema));
    }
  }
}

void fit_to_schema(Spec& spec) {
  std::set<std::string> names;
  for (const Sample* sample : all_samples(spec)) {
    if (!names.insert(sample->name).second) {
      throw spec_error("{}: two samples of {} are named '{}'; name one with .named(\"...\")", sample->where,
                       spec.name, sample->name);
    }
    check_name(*sample);
    check_sizes(*sample);
  }
  if (spec.kind == Spec::Kind::torch_class) fit_to_class(spec);
  if (spec.kind != Spec::Kind::op) return;
  spec.op = find_op(spec.name);
  if (!spec.op) {
    throw spec_error(
        "{}: no loaded library defines {}; check its name and overload, and `libraries` in opgate.toml",
        spec.where, spec.name);
  }
  // The tag of torch says the same as the promise.
  if (spec.op->hasTag(at::Tag::nondeterministic_seeded))
    spec.promises.insert(Promise::nondeterministic_seeded);
  spec.schema = schema_text(spec);
  spec.schema_seen = spec.op->schema().arguments().data();
  for (Sample* sample : all_samples(spec)) fit_sample(*sample, spec.op->schema());
  for (const Bench& bench : spec.benches) check_sizes(bench.sample);
  fit_benches(spec);
  check_names(spec);
}

void demand_same_schema(const Spec& spec) {
  if (spec.kind != Spec::Kind::op) return;
  // Looked up by name, because the handle of an operator that has been unregistered is invalid.
  const auto now = find_op(spec.name);
  if (now && now->schema().arguments().data() == spec.schema_seen) return;
  if (now && schema_text(spec, now->schema()) == spec.schema) return;
  throw spec_error(
      "{}: {} was {} when this spec was read, and now {}; an operator must keep its schema while it is "
      "loaded",
      spec.where, spec.name, spec.schema, now ? "is " + schema_text(spec, now->schema()) : "is gone");
}

}  // namespace opgate
