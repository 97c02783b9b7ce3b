// Tensors as the engine makes, compares and writes them.
#include <pybind11/stl.h>
#include <torch/csrc/utils/pybind.h>

#include <map>
#include <nlohmann/json.hpp>

#include "base/dtypes.h"
#include "compare/agreement.h"
#include "compare/comparison.h"
#include "compare/kept_results.h"
#include "inputs/arguments.h"
#include "judging/comparison/compiled_agreement.h"
#include "layouts/layout.h"
#include "python/binding/loaded.h"
#include "python/binding/parts.h"
#include "spec/json/sample_json.h"
#include "values/counter.h"
#include "values/domain.h"

namespace opgate {
namespace {

namespace py = pybind11;
using nlohmann::json;

at::Tensor described_values(const std::string& described, const std::string& dtype,
                            const std::string& stream) {
  const Sample sample =
      sample_from_json({{"arguments", json::array({json::parse(described)})}, {"where", "Python"}});
  const TensorArgument& tensor = *sample.arguments.at(0).tensor();
  const c10::ScalarType swept = known_dtype(dtype);
  return make_values(tensor.domain, stream_key(stream), tensor.shape, tensor.dtype.value_or(swept));
}

std::optional<std::string> difference_beyond(const Accuracy& accuracy, const at::Tensor& got,
                                             const at::Tensor& want, const at::Tensor& scale) {
  const Comparison comparison = compare(got, want, accuracy, scale);
  return comparison.within() ? std::nullopt : std::optional(difference_text(comparison, got, want));
}

std::optional<std::string> difference(const at::Tensor& got, const at::Tensor& want,
                                      std::optional<double> bound, const std::optional<at::Tensor>& scale) {
  Accuracy accuracy = bound ? ulps(*bound) : exact();
  if (scale) accuracy = accuracy.scaled_by_inputs();
  return difference_beyond(accuracy, got, want, scale.value_or(at::Tensor()));
}

std::optional<std::string> difference_within_accuracy(const std::string& id, const at::Tensor& got,
                                                      const at::Tensor& want) {
  const Agreement near = agreement_of_compiled(loaded_call(id), {want});
  return difference_beyond(near.accuracy, got, want,
                           near.scales.empty() ? at::Tensor() : near.scales.front());
}

std::optional<std::string> difference_from_reference(const std::string& id, const at::Tensor& got,
                                                     const at::Tensor& want,
                                                     const std::optional<at::Tensor>& scale) {
  const CallKey key = loaded_call(id);
  const Accuracy accuracy = key.spec->accuracy ? key.spec->accuracy_for(key.dtype) : exact();
  return difference_beyond(accuracy, got, want, scale.value_or(at::Tensor()));
}

std::vector<std::string> every_dtype_name() {
  std::vector<std::string> names;
  for (const c10::ScalarType dtype : every_dtype()) names.emplace_back(dtype_name(dtype));
  return names;
}

// The tensor in each layout of its sizes, by the layout's name, without those that need a lazy view.
std::map<std::string, at::Tensor> laid_out(const at::Tensor& tensor) {
  std::map<std::string, at::Tensor> all;
  for (const auto& [layout, placement] : placements(tensor.sizes())) {
    const bool fits = layout->accepts_dtype == nullptr || layout->accepts_dtype(tensor.scalar_type());
    if (fits && layout->same_sizes && placement.view == View::plain)
      all[placement.name] = lay_out(tensor.contiguous(), placement.geometry, c10::kCPU);
  }
  return all;
}

}  // namespace

void define_comparison(py::module_& module) {
  module.def("values", &described_values,
             "The values that a TensorArgument (JSON) describes, contiguous and on the CPU. `dtype`, such as "
             "\"float32\", is used if the argument fixes none. Each stream gives other values of the domain.",
             py::arg("described"), py::arg("dtype"), py::arg("stream"));
  module.def("difference", &difference,
             "How two tensors differ, in words; None if they do not. They are compared bit for bit, or "
             "within `ulps` at the magnitude of `want`, or of `scale` if that is larger. With `ulps`, the "
             "dtype of `want` may be wider.",
             py::arg("got"), py::arg("want"), py::arg("ulps") = std::nullopt,
             py::arg("scale") = std::nullopt);
  module.def(
      "difference_within_accuracy", &difference_within_accuracy,
      "How two results of a call differ, in words, where each was rounded in its own way; None if they "
      "are within twice the accuracy that the spec promises, at the largest element of `want`.",
      py::arg("call_id"), py::arg("got"), py::arg("want"));
  module.def(
      "difference_from_reference", &difference_from_reference,
      "How a result of a call differs from the reference's, in words; None if it is within the accuracy "
      "that the spec promises, or has the same bits if it promises none. `scale` is the magnitude of the "
      "terms, if the spec gives one.",
      py::arg("call_id"), py::arg("got"), py::arg("want"), py::arg("scale") = std::nullopt);
  module.def("results_as_text", &results_as_text,
             "The tensors as text, from which a C++ program can read them.", py::arg("tensors"));
  module.def("digest", &digest, "SHA-1 over dtype, shape and row-major bytes of the tensors.",
             py::arg("tensors"));
  module.def("laid_out", &laid_out,
             "A copy of a CPU tensor in each layout that keeps its sizes: {'contiguous': ..., 'transposed': "
             "...}. Of values that share an element in a layout, such as 'expanded', one stays.",
             py::arg("tensor"));
  module.def("every_dtype", &every_dtype_name, "The names of the dtypes that the engine makes tensors of.");
  module.def(
      "dtype_number", [](const std::string& name) { return static_cast<int64_t>(known_dtype(name)); },
      "The number by which an operator's argument of type ScalarType is passed. Raises RuntimeError for a "
      "dtype that the engine does not know.",
      py::arg("name"));
}

}  // namespace opgate
