#include "spec/json/sample_json.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <cstdlib>

#include "base/dtypes.h"
#include "base/errors.h"
#include "device/accelerator.h"

namespace opgate {
namespace {

using nlohmann::json;

json to_json(const c10::IValue& value) {
  if (value.isNone()) return nullptr;
  if (value.isBool()) return value.toBool();
  if (value.isInt()) return value.toInt();
  if (value.isDouble()) {
    // JSON has no number for infinity and NaN.
    if (!std::isfinite(value.toDouble())) return {{"number", fmt::format("{}", value.toDouble())}};
    return value.toDouble();
  }
  if (value.isComplexDouble()) {
    const c10::complex<double> number = value.toComplexDouble();
    return {{"complex", {number.real(), number.imag()}}};
  }
  if (value.isString()) return value.toStringRef();
  if (value.isIntList()) return value.toIntVector();
  if (value.isDoubleList()) return value.toDoubleVector();
  if (value.isBoolList()) {
    const c10::List<bool> list = value.toBoolList();
    return std::vector<bool>(list.begin(), list.end());
  }
  if (value.isList() && value.toList().elementType()->kind() == c10::TypeKind::StringType) {
    json list = json::array();
    for (const c10::IValue& text : value.toListRef()) list.push_back(text.toStringRef());
    return list;
  }
  throw spec_error("a sample argument of type {} cannot be written as JSON", value.type()->str());
}

c10::IValue value_from_json(const json& value) {
  if (value.is_null()) return {};
  if (value.is_boolean()) return value.get<bool>();
  if (value.is_number_integer()) return value.get<int64_t>();
  if (value.is_number()) return value.get<double>();
  if (value.is_string()) return value.get<std::string>();
  if (value.is_array() && std::ranges::all_of(value, [](const json& e) { return e.is_number_integer(); })) {
    return value.get<std::vector<int64_t>>();
  }
  if (value.is_array() && std::ranges::all_of(value, [](const json& e) { return e.is_boolean(); })) {
    c10::List<bool> list;
    for (const json& element : value) list.push_back(element.get<bool>());
    return list;
  }
  if (value.is_array() && std::ranges::all_of(value, [](const json& e) { return e.is_string(); }))
    return value.get<std::vector<std::string>>();
  if (value.is_array()) return value.get<std::vector<double>>();
  throw spec_error("{} is not a sample argument", value.dump());
}

json to_json(const TensorArgument& tensor) {
  if (tensor.is_none) return nullptr;
  json described{{"shape", tensor.shape}, {"values", to_string(tensor.domain)}};
  if (tensor.dtype) described["dtype"] = dtype_name(*tensor.dtype);
  return described;
}

TensorArgument tensor_from_json(const json& described) {
  if (described.is_null()) return {.is_none = true};
  TensorArgument tensor{described.at("shape").get<Shape>(), domain_from_string(described.at("values")),
                        std::nullopt};
  if (described.contains("dtype")) tensor.dtype = known_dtype(described.at("dtype"));
  return tensor;
}

json to_json(const Argument& argument) {
  if (const TensorArgument* tensor = argument.tensor()) return to_json(*tensor);
  if (const GeneratorArgument* generator = argument.generator()) return {{"seed", generator->seed}};
  if (argument.is_device()) return {{"device", "of the case"}};
  const auto* list = argument.tensors();
  if (list == nullptr) return to_json(*argument.other());
  json tensors = json::array();
  for (const TensorArgument& tensor : *list) tensors.push_back(to_json(tensor));
  return {{"tensors", std::move(tensors)}};
}

Argument argument_from_json(const json& argument) {
  if (!argument.is_object()) return value_from_json(argument);
  if (argument.contains("number"))
    return std::strtod(argument.at("number").get<std::string>().c_str(), nullptr);
  if (argument.contains("complex")) {
    const json& parts = argument.at("complex");
    return c10::complex<double>(parts.at(0).get<double>(), parts.at(1).get<double>());
  }
  if (argument.contains("device") && !argument.contains("shape")) return device_of_case;
  if (argument.contains("seed")) return GeneratorArgument{argument.at("seed").get<uint64_t>()};
  if (!argument.contains("tensors")) return tensor_from_json(argument);
  std::vector<TensorArgument> list;
  for (const json& tensor : argument.at("tensors")) list.push_back(tensor_from_json(tensor));
  return list;
}

}  // namespace

c10::ScalarType known_dtype(const std::string& name) {
  const auto dtype = dtype_from_name(name);
  if (!dtype)
    throw spec_error("'{}' is no dtype that OpGate knows; it is written as in torch.{}", name, name);
  return *dtype;
}

c10::DeviceType known_device(const std::string& name) {
  const auto device = device_type_named(name);
  if (!device) throw spec_error("'{}' is none of the devices {}", name, fmt::join(device_type_names(), ", "));
  return *device;
}

json to_json(const Sample& sample) {
  json arguments = json::array();
  for (const Argument& argument : sample.arguments) arguments.push_back(to_json(argument));
  return {{"name", sample.name}, {"arguments", std::move(arguments)}, {"where", sample.where}};
}

Sample sample_from_json(const json& described) {
  try {
    Sample sample{described.value("name", ""), {}, described.value("where", "")};
    for (const json& argument : described.at("arguments").get_ref<const json::array_t&>()) {
      sample.arguments.push_back(argument_from_json(argument));
    }
    if (sample.name.empty()) sample.name = default_name(sample.arguments);
    return sample;
  } catch (const json::exception& error) {
    throw spec_error("not the description of a sample: {} ({})", described.dump(), error.what());
  }
}

}  // namespace opgate
