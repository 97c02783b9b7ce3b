#include "python/binding/loaded.h"

#include <pybind11/stl.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "judging/all_checks.h"
#include "process/libraries/library.h"
#include "process/libraries/replaced_kernels.h"
#include "process/mutants.h"
#include "python/binding/classes.h"
#include "python/binding/parts.h"
#include "python/binding/reference.h"
#include "run/project_setup.h"

namespace opgate {
namespace {

namespace py = pybind11;

// Exceptions and frames of a kernel that is written in Python keep tensors alive until the next collection.
// The first call of an operator may import large parts of torch, whose objects a collection would look at
// each time.
void collect_garbage(bool keep_the_rest) {
  const py::gil_scoped_acquire locked;
  const py::module_ gc = py::module_::import("gc");
  gc.attr("collect")();
  if (keep_the_rest) gc.attr("freeze")();
}

// As native workers load it. A library's initialisers may start threads of Python, so that the GIL is
// released.
std::string load_operators(const std::string& library) {
  const py::gil_scoped_release released;
  const auto failure = try_load(library);
  return failure ? explained(*failure, library) : "";
}

// load_operators() must have loaded the operator libraries before. `references` and `scales` hold the
// functions of specs that are written in Python, by operator name, `models` those of models, by class and
// method.
void load(const std::vector<std::string>& spec_libraries, const std::string& described,
          const std::map<std::string, py::object>& references,
          const std::map<std::string, py::object>& scales,
          const std::map<std::string, std::map<std::string, py::object>>& models,
          const std::string& regressions, const std::string& recorded, const std::string& samples,
          const std::string& outputs, const BuiltNamespaces& namespaces) {
  Setup setup;
  setup.namespaces = namespaces;
  setup.specs = spec_libraries;
  setup.regressions = regressions;
  setup.recorded = recorded;
  setup.samples = samples;
  setup.models = nlohmann::json::parse(described);
  Loaded fresh{load_subjects(setup), {}, native_checks()};
  for (Spec& spec : fresh.subjects) {
    if (const auto found = references.find(spec.name); found != references.end())
      spec.reference = reference_from_python(found->second);
    if (const auto found = scales.find(spec.name); found != scales.end())
      spec.scale = reference_from_python(found->second);
    if (const auto found = models.find(spec.name); found != models.end() && spec.torch_class)
      set_model(spec, found->second);
  }
  fresh.cache.collect_garbage = collect_garbage;
  fresh.cache.outputs_folder = outputs;
  loaded() = std::move(fresh);
}

// The dispatcher of this process has kernels for Meta that only raise: those of a custom_op without
// register_fake.
void set_without_fake(const std::vector<std::string>& operators) {
  for (Spec& spec : loaded().subjects) {
    if (std::ranges::find(operators, spec.name) != operators.end()) spec.lacks_fake = true;
  }
}

}  // namespace

Loaded& loaded() {
  // It holds Python functions, which nothing may destroy once the interpreter has ended.
  static Loaded& only = *new Loaded{{}, {}, native_checks()};
  return only;
}

CallKey loaded_call(const std::string& id) { return parse_call_id(loaded().subjects, id); }

void define_loaded(py::module_& module) {
  module.def(
      "load_operators", &load_operators,
      "Loads a library of operators, and returns why that is impossible, or nothing. Raises RuntimeError "
      "where there is no such file, or where its registrations fail.",
      py::arg("library"));
  module.def(
      "keep_kernels_of_torch", &keep_kernels_of_torch,
      "Keeps torch's kernels of these operators, by name, at one dispatch key each. To be called before "
      "the project is loaded.",
      py::arg("key_of_operator"));
  module.def("choose_kernels_by_scope", &choose_kernels_by_scope,
             "From now on torch's kept kernels run while the engine itself computes, and the project's while "
             "an operator is under test or Python computes.");
  module.def(
      "load", &load,
      "Loads spec libraries, and the specs and models that are described in `described` (JSON). `references` "
      "and `scales` are the functions of those specs, by operator, `models` those of classes, by class and "
      "method (\"__init__\" makes the model), `namespaces` those of builds of kernels, by the name that "
      "stays the same for each build. Raises RuntimeError for a broken spec.",
      py::arg("spec_libraries"), py::arg("described"), py::arg("references") = py::dict(),
      py::arg("scales") = py::dict(), py::arg("models") = py::dict(), py::arg("regressions") = "",
      py::arg("recorded") = "", py::arg("samples") = "", py::arg("outputs") = "",
      py::arg("namespaces") = py::dict());
  module.def("choose_mutant", &choose_mutant,
             "From now on, this mutant of the loaded libraries runs; 0: none, -1: those that calls reach are "
             "noted. Raises RuntimeError if no library has mutants.",
             py::arg("number"));
  module.def("reached_mutants", &reached_mutants,
             "The numbers of the mutants that were reached since the last call.");
  module.def("set_without_fake", &set_without_fake,
             "Says which operators have no fake kernel, though their dispatcher's entry has one that raises.",
             py::arg("operators"));
}

}  // namespace opgate
