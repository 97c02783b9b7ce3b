#include "spec/recordings.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "base/errors.h"
#include "spec/json/json_folder.h"
#include "spec/json/sample_json.h"
#include "spec/spec.h"
#include "spec/specs.h"

namespace opgate {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

// What the names of recorded calls that raised begin with.
constexpr std::string_view kRaised = "raised ";

std::vector<Sample> samples_of(const json& described_samples, const std::string& where,
                               std::string_view prefix = "") {
  std::vector<Sample> samples;
  std::set<std::string> names;
  for (const json& described : described_samples) {
    Sample sample = sample_from_json(described);
    sample.where = where;
    sample.name.insert(0, prefix);
    std::ranges::replace(sample.name, '/', '_');  // '/' separates the parts of a case id
    const std::string base = sample.name;
    for (int again = 2; !names.insert(sample.name).second; ++again)
      sample.name = fmt::format("{} ({})", base, again);
    samples.push_back(std::move(sample));
  }
  return samples;
}

// The names of arguments that are integer tensors: they may be indices, and nothing in a recording says
// into what.
std::set<std::string> integer_tensors(const c10::FunctionSchema& schema, const std::vector<Sample>& samples) {
  const auto is_integer = [](const TensorArgument& tensor) {
    return tensor.dtype && c10::isIntegralType(*tensor.dtype, /*includeBool=*/false);
  };
  std::set<std::string> names;
  for (const Sample& sample : samples) {
    for (size_t i = 0; i < sample.arguments.size(); ++i) {
      const auto* list = sample.arguments[i].tensors();
      const auto* tensor = sample.arguments[i].tensor();
      if ((tensor != nullptr && is_integer(*tensor)) ||
          (list != nullptr && std::ranges::any_of(*list, is_integer)))
        names.insert(schema.arguments().at(i).name());
    }
  }
  return names;
}

// Whether the operator's author has registered how it is differentiated.
bool has_autograd_kernel(const std::string& op, const PythonKernels& python_kernels) {
  const auto has = [](const std::vector<std::string>& keys) {
    return std::ranges::any_of(keys, [](const std::string& key) { return key.starts_with("Autograd"); });
  };
  const auto in_python = python_kernels.find(op);
  if (in_python != python_kernels.end() && has(in_python->second)) return true;
  const auto found = find_op(op);
  return found && has(registration_of(*found).kernels);
}

Spec draft_of(const json& recorded, const std::string& where, bool python_too,
              const PythonKernels& python_kernels) {
  Spec spec;
  spec.name = recorded.at("op");
  spec.where = where;
  spec.draft = true;
  spec.replaced_at = recorded.value("replaced_at", "");
  for (const auto& [device, names] : recorded.at("dtypes").items()) {
    for (const json& name : names) spec.dtypes[known_device(device)].push_back(known_dtype(name));
  }
  if (recorded.at("differentiated").get<bool>() || has_autograd_kernel(spec.name, python_kernels)) {
    spec.promises.insert(Promise::differentiable);
    spec.guessed.insert(Promise::differentiable);
    spec.never_differentiated = !recorded.at("differentiated").get<bool>();
  }
  const bool in_cpp = is_defined_in_cpp(spec.name);
  // Where Python modules have registered a fake kernel or a derivative, calls without them would fail.
  // What replaces a kernel of torch's is seen by the process alone that loads modules and libraries.
  spec.in_python = spec.replaces_kernel() || (python_too && (!in_cpp || python_kernels.contains(spec.name)));
  if (!in_cpp) {
    if (!python_too) {
      throw spec_error(
          "{}: nothing that opgate.toml loads defines {}; add its library to `libraries`, or the Python "
          "module that defines it to `python`",
          where, spec.name);
    }
    spec.kernels_in_python = true;
    define_schema(spec.name, recorded.at("schema"), where);
  }
  complete_draft(spec);
  return spec;
}

void add_recording(const json& recorded, const std::string& where, bool python_too,
                   const PythonKernels& python_kernels, std::vector<Spec>& subjects) {
  if (recorded.value("recorded", 0) != kRecordingFormat)
    throw SpecError("another version of OpGate wrote it; delete it and record again");
  const std::string op = recorded.at("op");
  auto spec = std::ranges::find(subjects, op, &Spec::name);
  if (spec == subjects.end()) {
    subjects.push_back(draft_of(recorded, where, python_too, python_kernels));
    spec = std::prev(subjects.end());
  }
  const auto found = find_op(op);
  const auto fit = [&](Sample& sample) {
    try {
      if (found) fit_sample(sample, found->schema());
    } catch (const SpecError& error) {
      throw spec_error("{}; it was recorded when the schema was {}: delete the file and record again",
                       error.what(), recorded.at("schema").get<std::string>());
    }
  };
  for (Sample& sample : samples_of(recorded.at("samples"), where)) {
    if (spec->find_sample(sample.name) != nullptr) continue;  // the spec's own sample has precedence
    fit(sample);
    spec->samples.push_back(std::move(sample));
  }
  for (Sample& sample : samples_of(recorded.value("rejections", json::array()), where, kRaised)) {
    if (spec->find_sample(sample.name) != nullptr) continue;
    fit(sample);
    spec->rejections.push_back({std::move(sample), ""});
  }
  if (spec->draft && found) {
    for (const std::string& name : integer_tensors(found->schema(), spec->samples)) {
      if (spec->trusted.insert(name).second) spec->assumed_trusted.insert(name);
    }
  }
  if (spec->samples.empty()) throw spec_error("it has no sample of {}; delete it and record again", op);
}

}  // namespace

void add_recordings(const fs::path& folder, bool python_too, const PythonKernels& python_kernels,
                    std::vector<Spec>& subjects) {
  if (folder.empty()) return;
  if (!fs::is_directory(folder)) {
    throw spec_error(
        "`recorded` in opgate.toml names {}, which is not a folder; `opgate record -- PROGRAM` makes it",
        folder.string());
  }
  for_each_json(folder, "not a record of calls: ", [&](const json& recorded, const std::string& file) {
    add_recording(recorded, file, python_too, python_kernels, subjects);
  });
}

bool has_other_values_than_recorded(const Spec& spec, const Sample& sample) {
  if (!spec.draft || fs::path(sample.where).extension() != ".json") return false;
  const auto is_range = [](const TensorArgument& tensor) {
    return !tensor.is_none && tensor.domain.family != "literal" &&
           std::ranges::find(tensor.shape, 0) == tensor.shape.end();
  };
  return std::ranges::any_of(sample.arguments, [&](const Argument& argument) {
    if (const auto* tensor = argument.tensor()) return is_range(*tensor);
    const auto* list = argument.tensors();
    return list != nullptr && std::ranges::any_of(*list, is_range);
  });
}

}  // namespace opgate
