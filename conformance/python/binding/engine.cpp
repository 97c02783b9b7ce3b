// opgate._engine: the engine inside a Python process, so that both halves use the same samples, layouts and
// comparison.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <torch/csrc/jit/python/pybind_utils.h>
#include <torch/csrc/utils/pybind.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "base/dtypes.h"
#include "call/arguments.h"
#include "call/device.h"
#include "checks/outputs.h"
#include "compare/comparison.h"
#include "run/subjects.h"
#include "spec/sample_json.h"
#include "values/counter.h"
#include "values/domain.h"

namespace opgate {
namespace {

namespace py = pybind11;
using nlohmann::json;

// What this process checks; one a process, as torch's own registry is.
struct State {
  std::vector<Spec> subjects;
  ValueCache values;
};

State& state() {
  static State only;
  return only;
}

// The operator libraries are loaded by torch.ops.load_library before.
void load(const std::vector<std::string>& spec_libraries, const std::string& models) {
  Setup setup;
  setup.specs = spec_libraries;
  setup.models = json::parse(models);
  state() = {load_subjects(setup), {}};
}

py::object to_python(const json& value) { return py::module_::import("json").attr("loads")(value.dump()); }

py::object describe(const std::string& id) {
  const CallKey key = parse_call_id(state().subjects, id);
  json tensors = json::array();
  for (const TensorSlot& slot : tensor_slots(*key.spec, *key.sample)) {
    tensors.push_back({slot.position, slot.element ? json(*slot.element) : json(nullptr)});
  }
  return to_python({{"subject", key.spec->name},
                    {"kind", key.spec->kind == Spec::Kind::op ? "op" : "model"},
                    {"dtype", dtype_name(key.dtype)},
                    {"variant", key.variant},
                    {"device", device_name(key.device)},
                    {"sample", to_json(*key.sample)},
                    {"tensors", tensors}});
}

py::list arguments(const std::string& id) {
  const CallKey key = parse_call_id(state().subjects, id);
  py::list list;
  for (const c10::IValue& value : materialise(key, state().values).stack)
    list.append(torch::jit::toPyObject(value));
  return list;
}

at::Tensor described_values(const std::string& described, const std::string& dtype,
                            const std::string& stream) {
  const Sample sample =
      sample_from_json({{"arguments", json::array({json::parse(described)})}, {"where", "Python"}});
  const TensorArgument& tensor = *sample.arguments.at(0).tensor();
  const auto swept = dtype_from_name(dtype);
  if (!swept) throw SpecError("'" + dtype + "' is no dtype that OpGate knows");
  return make_values(tensor.domain, stream_key(stream), tensor.shape, tensor.dtype.value_or(*swept));
}

std::optional<std::string> difference(const at::Tensor& got, const at::Tensor& want,
                                      std::optional<double> bound, const std::optional<at::Tensor>& scale) {
  Accuracy accuracy = bound ? ulps(*bound) : exact();
  if (scale) accuracy = accuracy.scaled_by_inputs();
  const Comparison comparison = compare(got, want, accuracy, scale.value_or(at::Tensor()));
  if (comparison.within()) return std::nullopt;
  return difference_text(comparison, got, want);
}

std::string schema(const std::string& op) {
  std::ostringstream text;
  text << find_op(op).value().schema();
  return text.str();
}

}  // namespace
}  // namespace opgate

PYBIND11_MODULE(_engine, module) {
  module.doc() = "The OpGate engine: samples, layouts, comparison and digests, the same as in C++.";
  module.def("load", &opgate::load,
             "Loads spec libraries and models (JSON). Raises RuntimeError for a broken spec.",
             pybind11::arg("spec_libraries"), pybind11::arg("models"));
  module.def("describe", &opgate::describe, "What a call id means, as a dict.", pybind11::arg("call_id"));
  module.def("arguments", &opgate::arguments, "The arguments of a call in schema order, freshly laid out.",
             pybind11::arg("call_id"));
  module.def("difference", &opgate::difference,
             "How two tensors differ: bit for bit, or by more than `ulps`, at the magnitudes of `scale` "
             "where they are "
             "larger than `want`, whose dtype may be wider; None where they do not.",
             pybind11::arg("got"), pybind11::arg("want"), pybind11::arg("ulps") = std::nullopt,
             pybind11::arg("scale") = std::nullopt);
  module.def("values", &opgate::described_values,
             "The values that a TensorArgument (JSON) describes, contiguous, on the CPU, in a dtype named as "
             "\"float32\"; another stream gives other ones of the same domain.",
             pybind11::arg("described"), pybind11::arg("dtype"), pybind11::arg("stream"));
  module.def("digest", &opgate::digest, "SHA-1 over dtype, shape and row-major bytes of the tensors.",
             pybind11::arg("tensors"));
  module.def("schema", &opgate::schema, "The registered schema of \"ns::op.overload\".", pybind11::arg("op"));
}
