#include <fmt/format.h>
#include <opgate/spec.h>

#include <algorithm>

#include "spec/specs.h"

namespace opgate {
namespace {

struct Registration {
  std::string name;
  SpecFunction function;
  std::string where;
};

std::vector<Registration>& registrations() {
  static std::vector<Registration> all;
  return all;
}

std::string at_line(const char* file, unsigned line) { return fmt::format("{}:{}", file, line); }

Spec written(const Registration& registration) {
  Spec spec;
  spec.name = registration.name;
  spec.where = registration.where;
  SpecWriter writer(spec);
  try {
    registration.function(writer);
  } catch (const SetupError&) {
    throw;
  } catch (const std::exception& error) {  // a spec is user code, and may throw anything
    throw SpecError(fmt::format("{}: the spec of {} throws: {}", spec.where, spec.name, error.what()));
  }
  const auto demand = [&](bool present, std::string_view what, std::string_view how) {
    if (!present)
      throw SpecError(
          fmt::format("{}: the spec of {} names no {}: add {}", spec.where, spec.name, what, how));
  };
  demand(!spec.dtypes.empty(), "dtypes", "spec.dtypes(floating())");
  demand(spec.reference != nullptr, "reference", "spec.reference(\"aten::...\") or a lambda");
  demand(spec.accuracy.has_value(), "accuracy", "spec.accuracy(exact()) or spec.accuracy(ulps(4))");
  demand(!spec.samples.empty(), "sample", "spec.sample({uniform({4, 8})})");
  return spec;
}

}  // namespace

const Sample* Spec::find_sample(std::string_view sample_name) const {
  const auto found = std::ranges::find(samples, sample_name, &Sample::name);
  return found == samples.end() ? nullptr : &*found;
}

SpecWriter& SpecWriter::dtypes(Dtypes accepted) {
  dtypes(c10::kCPU, accepted);
  return dtypes(c10::kCUDA, std::move(accepted));
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
  spec_.reference = [op_name, where = spec_.where](const c10::OperatorHandle&, torch::jit::Stack& stack) {
    const auto op = find_op(op_name);
    if (!op)
      throw SpecError(fmt::format("{}: the reference {} is no operator of this process", where, op_name));
    op->callBoxed(stack);
  };
  return *this;
}

SpecWriter& SpecWriter::accuracy(Accuracy promised) {
  spec_.accuracy = promised;
  return *this;
}

SpecWriter& SpecWriter::sample(std::vector<Argument> arguments, std::source_location here) {
  const std::string where = at_line(here.file_name(), here.line());
  std::string name = default_name(arguments);
  spec_.samples.push_back({std::move(name), std::move(arguments), where});
  return *this;
}

SpecWriter& SpecWriter::named(std::string name) {
  if (spec_.samples.empty())
    throw SpecError(fmt::format("{}: .named(\"{}\") follows no sample", spec_.where, name));
  spec_.samples.back().name = std::move(name);
  return *this;
}

bool register_spec(std::string name, SpecFunction function, const char* file, int line) {
  registrations().push_back({std::move(name), function, at_line(file, static_cast<unsigned>(line))});
  return true;
}

std::vector<Spec> registered_specs() {
  std::vector<Spec> specs;
  for (const Registration& registration : registrations()) specs.push_back(written(registration));
  std::ranges::sort(specs, {}, &Spec::name);
  return specs;
}

void name_subjects(std::vector<Spec>& specs) {
  const auto base = [](const Spec& spec) {
    const auto colon = spec.name.find("::");
    return colon == std::string::npos ? spec.name : spec.name.substr(colon + 2);
  };
  for (Spec& spec : specs) {
    spec.id = base(spec);
    // O(n^2) over operators, of which a library has hundreds at most.
    for (const Spec& other : specs) {
      if (&other == &spec) continue;
      if (other.name == spec.name) {
        throw SpecError(fmt::format("{}: {} has a spec already, at {}", spec.where, spec.name, other.where));
      }
      if (base(other) == spec.id) spec.id = spec.name;
    }
  }
}

std::optional<c10::OperatorHandle> find_op(const std::string& name) {
  const auto colon = name.find("::");
  const auto dot = colon == std::string::npos ? colon : name.find('.', colon);
  const std::string base = name.substr(0, dot);
  const std::string overload = dot == std::string::npos ? "" : name.substr(dot + 1);
  return c10::Dispatcher::singleton().findSchema({base, overload});
}

}  // namespace opgate
