#include "spec/json/class_json.h"

#include <nlohmann/json.hpp>

#include "base/errors.h"
#include "spec/class_promises.h"
#include "spec/json/sample_json.h"
#include "spec/spec.h"

namespace opgate {
namespace {

using nlohmann::json;

SpecError without_python(const std::string& where) {
  return spec_error("{}: this model is written in Python, which this process cannot call", where);
}

ClassMethod method_from_json(const json& described) {
  const std::string where = described.at("where");
  const auto call = [where](void*, const torch::jit::Stack&) -> c10::IValue { throw without_python(where); };
  ClassMethod method{{described.at("name"), call, typeid(void), {}, nullptr}, {}, false, where};
  for (const json& arguments : described.at("calls")) method.calls.push_back(sample_from_json(arguments));
  described.at("may_share").get_to(method.may_share);
  return method;
}

}  // namespace

void read_class(const json& described, Spec& spec) {
  spec.kind = Spec::Kind::torch_class;
  spec.in_python = true;
  spec.torch_class = std::make_shared<ClassPromises>();
  ClassPromises& promises = *spec.torch_class;
  if (described.at("model").get<bool>()) {
    promises.model.make = [where = spec.where](const torch::jit::Stack&) -> std::shared_ptr<void> {
      throw without_python(where);
    };
  }
  for (const json& method : described.at("methods")) promises.methods.push_back(method_from_json(method));
  described.at("exported").get_to(promises.exported);
}

}  // namespace opgate
