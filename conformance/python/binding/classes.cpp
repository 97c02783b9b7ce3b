#include "python/binding/classes.h"

#include <pybind11/stl.h>
#include <torch/csrc/jit/python/pybind_utils.h>

#include "base/errors.h"
#include "classes/call_sequence.h"
#include "python/binding/loaded.h"
#include "python/binding/parts.h"
#include "python/binding/reference.h"
#include "spec/class_promises.h"

namespace opgate {
namespace {

namespace py = pybind11;

py::list to_python(const torch::jit::Stack& values) {
  py::list list;
  for (const c10::IValue& value : values) list.append(torch::jit::toPyObject(value));
  return list;
}

// Whether each TorchBind class that has a spec is meant for torch.export.
std::map<std::string, bool> classes() {
  std::map<std::string, bool> exported;
  for (const Spec& spec : loaded().subjects) {
    if (spec.torch_class) exported[spec.name] = spec.torch_class->exported;
  }
  return exported;
}

// The same sequences as in C++.
py::list class_sequences(const std::string& id, size_t count) {
  const CallKey key = loaded_call(id);
  py::list sequences;
  for (const Sequence& sequence : random_sequences(key, count)) {
    py::list calls;
    for (const MethodCall& call : sequence)
      calls.append(py::make_tuple(call.method->name, to_python(arguments_of(key, call))));
    py::dict described;
    described["construct"] = to_python(constructor_arguments(key));
    described["calls"] = calls;
    sequences.append(described);
  }
  return sequences;
}

}  // namespace

void set_model(Spec& spec, const std::map<std::string, py::object>& functions) {
  ClassPromises& promises = *spec.torch_class;
  if (const auto factory = functions.find("__init__"); factory != functions.end()) {
    promises.model.make = [make = factory->second](const torch::jit::Stack& arguments) {
      const py::gil_scoped_acquire locked;
      return std::shared_ptr<void>(new py::object(call_function(make, to_python(arguments), {})),
                                   [](void* model) {
                                     const py::gil_scoped_acquire relocked;
                                     delete static_cast<py::object*>(model);
                                   });
    };
  }
  for (ClassMethod& method : promises.methods) {
    const c10::TypePtr gives = promises.type->getMethod(method.name).getSchema().returns().at(0).type();
    method.call = [function = functions.at(method.name), gives, where = method.where](
                      void* model, const torch::jit::Stack& arguments) -> c10::IValue {
      const py::gil_scoped_acquire locked;
      py::list all = to_python(arguments);
      all.insert(0, *static_cast<py::object*>(model));
      const py::object returned = call_function(function, all, {});
      if (gives->kind() == c10::TypeKind::NoneType) return {};
      try {
        return torch::jit::toIValue(returned, gives);
      } catch (const py::cast_error&) {
        throw spec_error("{}: the model gives a {}, but the class gives {}", where,
                         py::str(py::type::of(returned).attr("__name__")).cast<std::string>(), gives->str());
      }
    };
  }
}

void define_classes(py::module_& module) {
  module.def("classes", &classes,
             "The TorchBind classes that have a spec, by name: whether each is meant for torch.export.");
  module.def("class_sequences", &class_sequences,
             "Random sequences of calls of the class, with new tensors: a list of {\"construct\": arguments, "
             "\"calls\": [(method, arguments)]}.",
             py::arg("call_id"), py::arg("count"));
}

}  // namespace opgate
