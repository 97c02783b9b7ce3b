#include <fmt/format.h>
#include <opgate/class_spec.h>

#include "base/errors.h"
#include "spec/class_promises.h"
#include "spec/spec.h"
#include "spec/specs.h"

namespace opgate {
namespace {

ClassMethod& last_method(Spec& spec, std::string_view word) {
  std::vector<ClassMethod>& methods = spec.torch_class->methods;
  if (methods.empty()) throw spec_error("{}: .{}(...) follows no method", spec.where, word);
  return methods.back();
}

}  // namespace

ClassSpecWriter::ClassSpecWriter(Spec& spec) : spec_(spec), writer_(spec) {
  spec.torch_class = std::make_shared<ClassPromises>();
  spec.kind = Spec::Kind::torch_class;
  spec.accuracy = exact();
}

ClassSpecWriter& ClassSpecWriter::dtypes(Dtypes accepted) {
  writer_.dtypes(std::move(accepted));
  return *this;
}

ClassSpecWriter& ClassSpecWriter::dtypes(c10::DeviceType device, Dtypes accepted) {
  writer_.dtypes(device, std::move(accepted));
  return *this;
}

ClassSpecWriter& ClassSpecWriter::accuracy(Accuracy promised) {
  writer_.accuracy(promised);
  return *this;
}

ClassSpecWriter& ClassSpecWriter::construct(std::vector<Argument> arguments, std::source_location here) {
  const bool nameless = arguments.empty();
  writer_.sample(std::move(arguments), here);
  if (nameless) writer_.named("default");  // a part of a case id must not be empty
  return *this;
}

ClassSpecWriter& ClassSpecWriter::named(std::string name) {
  writer_.named(std::move(name));
  return *this;
}

ClassSpecWriter& ClassSpecWriter::with(std::vector<Argument> arguments, std::source_location here) {
  std::string name = default_name(arguments);
  last_method(spec_, "with").calls.push_back({std::move(name), std::move(arguments), at_line(here)});
  return *this;
}

ClassSpecWriter& ClassSpecWriter::may_share() {
  last_method(spec_, "may_share").may_share = true;
  return *this;
}

ClassSpecWriter& ClassSpecWriter::not_exported() {
  spec_.torch_class->exported = false;
  return *this;
}

ClassSpecWriter& ClassSpecWriter::planted_for(std::string check, std::string twin) {
  writer_.planted_for(std::move(check), std::move(twin));
  return *this;
}

ClassSpecWriter& ClassSpecWriter::set_model(ModelConstructor model) {
  spec_.torch_class->model = std::move(model);
  return *this;
}

ClassSpecWriter& ClassSpecWriter::add_method(ModelMethod method, const std::source_location& here) {
  ClassMethod added{std::move(method), {}, false, at_line(here)};
  std::vector<ClassMethod>& methods = spec_.torch_class->methods;
  for (const ClassMethod& other : methods) {
    if (other.name != added.name) continue;
    throw spec_error("{}: {} has a model already, at {}; add another argument set with .with(...)",
                     added.where, added.name, other.where);
  }
  methods.push_back(std::move(added));
  return *this;
}

bool register_class_spec(std::string name, ClassSpecFunction function, const char* file, int line) {
  const auto write = [function](Spec& spec) {
    ClassSpecWriter writer(spec);
    function(writer);
  };
  return register_subject(std::move(name), write, fmt::format("{}:{}", file, line));
}

}  // namespace opgate
