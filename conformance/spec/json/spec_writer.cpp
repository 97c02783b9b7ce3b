#include <fmt/format.h>
#include <opgate/spec.h>

#include "base/errors.h"
#include "device/accelerator.h"
#include "spec/spec.h"
#include "spec/specs.h"

namespace opgate {

std::string at_line(const std::source_location& here) {
  return fmt::format("{}:{}", here.file_name(), here.line());
}

SpecWriter& SpecWriter::dtypes(Dtypes accepted) {
  for (const c10::DeviceType device : device_types()) dtypes(device, accepted);
  return *this;
}

SpecWriter& SpecWriter::dtypes(c10::DeviceType device, Dtypes accepted) {
  if (accepted.empty()) {
    spec_.dtypes.erase(device);
  } else {
    spec_.dtypes[device] = std::move(accepted);
  }
  return *this;
}

SpecWriter& SpecWriter::reference(std::string op_name) {
  spec_.reference = reference_by_name(op_name, spec_.where);
  spec_.reference_op = std::move(op_name);
  return *this;
}

SpecWriter& SpecWriter::reference_function(Reference function) {
  spec_.reference = std::move(function);
  spec_.reference_op.clear();
  return *this;
}

SpecWriter& SpecWriter::accuracy_at_scale(Accuracy promised, Reference scale) {
  spec_.scale = std::move(scale);
  return accuracy(promised.scaled_by_inputs());
}

SpecWriter& SpecWriter::accuracy(Accuracy promised) {
  spec_.accuracy = promised;
  return *this;
}

SpecWriter& SpecWriter::gradient_accuracy(Accuracy promised) {
  spec_.gradient_accuracy = promised;
  return *this;
}

SpecWriter& SpecWriter::sample(std::vector<Argument> arguments, std::source_location here) {
  const std::string where = at_line(here);
  std::string name = default_name(arguments);
  spec_.samples.push_back({std::move(name), std::move(arguments), where});
  return *this;
}

SpecWriter& SpecWriter::named(std::string name) {
  if (spec_.samples.empty()) throw spec_error("{}: .named(\"{}\") follows no sample", spec_.where, name);
  spec_.samples.back().name = std::move(name);
  return *this;
}

SpecWriter& SpecWriter::promises(std::initializer_list<Promise> words) {
  spec_.promises.insert(words);
  return *this;
}

SpecWriter& SpecWriter::rejects(std::string name, std::vector<Argument> arguments,
                                std::source_location here) {
  const std::string where = at_line(here);
  spec_.rejections.push_back({{std::move(name), std::move(arguments), where}, "", ""});
  return *this;
}

SpecWriter& SpecWriter::because(std::string part) {
  if (spec_.rejections.empty())
    throw spec_error("{}: .because(\"{}\") follows no rejection", spec_.where, part);
  spec_.rejections.back().because = std::move(part);
  return *this;
}

SpecWriter& SpecWriter::raises(std::string type) {
  if (spec_.rejections.empty())
    throw spec_error("{}: .raises(\"{}\") follows no rejection", spec_.where, type);
  spec_.rejections.back().type = std::move(type);
  return *this;
}

SpecWriter& SpecWriter::names(std::string_view word, std::string named) {
  (spec_.*std::get<NamingWord::Texts>(naming_word(word).names)).insert(std::move(named));
  return *this;
}

SpecWriter& SpecWriter::names(std::string_view word, size_t result) {
  (spec_.*std::get<NamingWord::Indices>(naming_word(word).names)).insert(result);
  return *this;
}

BenchWriter SpecWriter::bench(std::vector<Argument> arguments, std::source_location here) {
  std::string name = default_name(arguments);
  Bench& bench = spec_.benches.emplace_back();
  bench.sample = {std::move(name), std::move(arguments), at_line(here)};
  return BenchWriter(bench);
}

SpecWriter& SpecWriter::draft() {
  spec_.draft = true;
  return *this;
}

SpecWriter& SpecWriter::planted_for(std::string check, std::string twin) {
  spec_.planted = Planted{std::move(check), std::move(twin)};
  return *this;
}

bool register_spec(std::string name, SpecFunction function, const char* file, int line) {
  const auto write = [function = std::move(function)](Spec& spec) {
    SpecWriter writer(spec);
    function(writer);
  };
  return register_subject(std::move(name), write, fmt::format("{}:{}", file, line));
}

}  // namespace opgate
