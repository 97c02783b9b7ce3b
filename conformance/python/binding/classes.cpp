#include "python/binding/classes.h"

#include <torch/csrc/jit/python/pybind_utils.h>

#include "classes/call_sequence.h"
#include "spec/class_promises.h"

namespace opgate {
namespace {

namespace py = pybind11;

py::list to_python(const torch::jit::Stack& values) {
  py::list list;
  for (const c10::IValue& value : values) list.append(torch::jit::toPyObject(value));
  return list;
}

}  // namespace

bool is_exported(const Spec& spec) { return spec.torch_class->exported; }

py::list class_sequences(const CallKey& key, size_t count) {
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

}  // namespace opgate
