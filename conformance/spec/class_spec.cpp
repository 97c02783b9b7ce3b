#include <fmt/format.h>
#include <opgate/class_spec.h>

#include "spec/specs.h"

namespace opgate {
namespace {

std::string at_line(const std::source_location& here) {
  return fmt::format("{}:{}", here.file_name(), here.line());
}

}  // namespace

ClassSpecWriter::ClassSpecWriter(Spec& spec)
    : spec_(spec), writer_(spec), promises_(*(spec.torch_class = std::make_shared<ClassPromises>())) {
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
  if (nameless) writer_.named("default");  // a case id has no empty part
  return *this;
}

ClassSpecWriter& ClassSpecWriter::named(std::string name) {
  writer_.named(std::move(name));
  return *this;
}

ClassSpecWriter& ClassSpecWriter::with(std::vector<Argument> arguments, std::source_location here) {
  std::string name = default_name(arguments);
  last_method("with").calls.push_back({std::move(name), std::move(arguments), at_line(here)});
  return *this;
}

ClassSpecWriter& ClassSpecWriter::may_share() {
  last_method("may_share").may_share = true;
  return *this;
}

ClassSpecWriter& ClassSpecWriter::not_exported() {
  promises_.exported = false;
  return *this;
}

ClassSpecWriter& ClassSpecWriter::planted_for(std::string check, std::string twin) {
  writer_.planted_for(std::move(check), std::move(twin));
  return *this;
}

ClassSpecWriter& ClassSpecWriter::add_method(ClassMethod method, const std::source_location& here) {
  method.where = at_line(here);
  for (const ClassMethod& other : promises_.methods) {
    if (other.name != method.name) continue;
    throw SpecError(fmt::format("{}: {} has a model already, at {}; add another argument set with .with(...)",
                                method.where, method.name, other.where));
  }
  promises_.methods.push_back(std::move(method));
  return *this;
}

ClassMethod& ClassSpecWriter::last_method(std::string_view word) {
  if (promises_.methods.empty())
    throw SpecError(fmt::format("{}: .{}(...) follows no method", spec_.where, word));
  return promises_.methods.back();
}

bool register_class_spec(std::string name, ClassSpecFunction function, const char* file, int line) {
  const auto write = [function](Spec& spec) {
    ClassSpecWriter writer(spec);
    function(writer);
  };
  return register_subject(std::move(name), write, fmt::format("{}:{}", file, line));
}

}  // namespace opgate
