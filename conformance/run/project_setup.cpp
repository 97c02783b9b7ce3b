#include "run/project_setup.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/enum_tag.h>

#include <algorithm>

#include "process/libraries/library.h"
#include "spec/json/samples_file.h"
#include "spec/json/spec_json.h"
#include "spec/recordings.h"
#include "spec/registration.h"
#include "spec/regressions.h"
#include "spec/schema/registered_name.h"

namespace opgate {

namespace {

bool runs_on_meta(const std::vector<std::string>& kernels) {
  return std::ranges::any_of(
      kernels, [](const std::string& key) { return key == "Meta" || key == "CompositeImplicitAutograd"; });
}

// False if a Python module that this process does not load is to register one (m.set_python_module), and
// where the tag of an operator of a draft says that it can have none outside of Python.
bool lacks_fake_kernel(const c10::OperatorHandle& op, bool draft) {
  return !has_fake_kernel(op) && !c10::Dispatcher::singleton().getPyStub(op.operator_name()) &&
         !(draft && op.hasTag(at::Tag::dynamic_output_shape));
}

}  // namespace

Setup setup_from(const Config& config) {
  Setup setup;
  for (const std::string& name : config.libraries) setup.libraries.push_back(config.find_library(name));
  for (const std::string& name : config.specs) setup.specs.push_back(config.find_library(name));
  setup.modules = config.modules;
  for (const KernelFolder& kernel : config.kernels) setup.namespaces[kernel.name] = kernel.id;
  setup.regressions = config.regressions;
  setup.recorded = config.recorded;
  setup.packages = config.output / "packages";
  return setup;
}

Setup load_setup(const Config& config, const std::string& interpreter) {
  Setup setup = setup_from(config);
  setup.native = load_libraries(setup.libraries, interpreter, !setup.modules.empty());
  return setup;
}

std::vector<Spec> load_subjects(const Setup& setup) {
  set_built_namespaces(setup.namespaces);
  for (const std::string& library : setup.native.in_order) load_library(library);
  for (const std::string& library : setup.specs) load_library(library);
  std::vector<Spec> subjects = registered_specs();
  for (const nlohmann::json& described : setup.models)
    subjects.push_back(spec_from_json(described, subjects));
  const bool python_too = !setup.modules.empty() || !setup.native.only_in_python.empty();
  add_recordings(setup.recorded, python_too, setup.python_kernels, subjects);
  add_regressions(setup.regressions, subjects);
  if (!setup.samples.empty()) replace_samples(setup.samples, subjects);
  for (Spec& subject : subjects) {
    fit_to_schema(subject);
    if (const auto found = setup.python_kernels.find(subject.name); found != setup.python_kernels.end())
      subject.fake_in_python = runs_on_meta(found->second);
    subject.lacks_fake =
        subject.op && !subject.fake_in_python && lacks_fake_kernel(*subject.op, subject.draft);
  }
  name_subjects(subjects);
  return subjects;
}

}  // namespace opgate
