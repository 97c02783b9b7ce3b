#include "classes/method_values.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/scalar_tensor.h>
#include <fmt/format.h>

#include <sstream>

#include "base/tensors_in.h"
#include "compare/comparison.h"

namespace opgate {
namespace {

std::string shown(const c10::IValue& value) {
  if (value.isTensor()) return "a tensor";
  std::ostringstream text;
  text << value;
  return text.str();
}

std::optional<std::string> apart(const c10::IValue& got, const c10::IValue& want) {
  return fmt::format("got {}, want {}", shown(got), shown(want));
}

std::optional<std::string> tensor_difference(const at::Tensor& got, const at::Tensor& want, Accuracy accuracy,
                                             double& worst_ulps) {
  if (!got.defined() || !want.defined()) {
    if (got.defined() == want.defined()) return std::nullopt;
    return got.defined() ? "got a tensor, want an undefined one" : "got an undefined tensor";
  }
  const Comparison comparison = compare(got, want, accuracy);
  worst_ulps = std::max(worst_ulps, comparison.worst_ulps);
  if (comparison.within()) return std::nullopt;
  return difference_text(comparison, got, want);
}

std::optional<std::string> number_difference(double got, double want, Accuracy accuracy, double& worst_ulps) {
  const auto boxed = [](double value) { return at::scalar_tensor(value, c10::kDouble); };
  if (!tensor_difference(boxed(got), boxed(want), accuracy, worst_ulps)) return std::nullopt;
  return fmt::format("got {}, want {}", got, want);
}

std::optional<std::string> sequence_difference(c10::ArrayRef<c10::IValue> got,
                                               c10::ArrayRef<c10::IValue> want, Accuracy accuracy,
                                               double& worst_ulps) {
  if (got.size() != want.size()) return fmt::format("got {} elements, want {}", got.size(), want.size());
  for (size_t i = 0; i < got.size(); ++i) {
    if (const auto text = difference(got[i], want[i], accuracy, worst_ulps))
      return fmt::format("element {}: {}", i, *text);
  }
  return std::nullopt;
}

std::optional<std::string> dict_difference(const c10::Dict<c10::IValue, c10::IValue>& got,
                                           const c10::Dict<c10::IValue, c10::IValue>& want, Accuracy accuracy,
                                           double& worst_ulps) {
  if (got.size() != want.size()) return fmt::format("got {} keys, want {}", got.size(), want.size());
  for (const auto& entry : want) {
    const auto found = got.find(entry.key());
    if (found == got.end()) return fmt::format("the key {} is missing", shown(entry.key()));
    if (const auto text = difference(found->value(), entry.value(), accuracy, worst_ulps))
      return fmt::format("{}: {}", shown(entry.key()), *text);
  }
  return std::nullopt;
}

// A flat view that has each covered element once, because an expanded or overlapping view cannot be written
// to.
at::Tensor covered(const at::Tensor& tensor) {
  int64_t span = 1;
  for (int64_t dim = 0; dim < tensor.dim(); ++dim) span += (tensor.size(dim) - 1) * tensor.stride(dim);
  return tensor.as_strided({span}, {1});
}

}  // namespace

c10::IValue deep_copy(const c10::IValue& value) { return value.deepcopy(); }

torch::jit::Stack deep_copy(const torch::jit::Stack& values) {
  torch::jit::Stack copies;
  for (const c10::IValue& value : values) copies.push_back(deep_copy(value));
  return copies;
}

std::optional<std::string> difference(const c10::IValue& got, const c10::IValue& want, Accuracy accuracy,
                                      double& worst_ulps) {
  if (got.tagKind() != want.tagKind()) return apart(got, want);
  if (got.isTensor()) return tensor_difference(got.toTensor(), want.toTensor(), accuracy, worst_ulps);
  if (got.isDouble()) return number_difference(got.toDouble(), want.toDouble(), accuracy, worst_ulps);
  if (got.isList()) return sequence_difference(got.toListRef(), want.toListRef(), accuracy, worst_ulps);
  if (got.isTuple()) {
    return sequence_difference(got.toTupleRef().elements(), want.toTupleRef().elements(), accuracy,
                               worst_ulps);
  }
  if (got.isGenericDict())
    return dict_difference(got.toGenericDict(), want.toGenericDict(), accuracy, worst_ulps);
  if (got.isObject()) {
    return got.toObjectRef().type() == want.toObjectRef().type() ? std::nullopt : apart(got, want);
  }
  return got == want ? std::nullopt : apart(got, want);
}

std::optional<std::string> difference(const Answer& got, const Answer& want, Accuracy accuracy,
                                      double& worst_ulps) {
  if (!got.ok() && !want.ok()) return std::nullopt;
  if (!got.ok()) return fmt::format("raised: {}", *got.raised);
  if (!want.ok()) return fmt::format("got {}, want an exception: {}", shown(got.value), *want.raised);
  return difference(got.value, want.value, accuracy, worst_ulps);
}

bool same(const c10::IValue& a, const c10::IValue& b) {
  double ignored = 0;
  return !difference(a, b, exact(), ignored);
}

bool share_memory(const c10::IValue& a, const c10::IValue& b) {
  for (const at::Tensor& one : tensors_in(a)) {
    for (const at::Tensor& other : tensors_in(b)) {
      if (one.numel() > 0 && other.numel() > 0 && one.is_alias_of(other)) return true;
    }
  }
  return false;
}

void overwrite(const c10::IValue& value) {
  const at::NoGradGuard no_grad;  // a parameter of the class may require gradients
  for (const at::Tensor& tensor : tensors_in(value)) {
    if (tensor.numel() > 0) covered(tensor.detach()).logical_not_();
  }
}

}  // namespace opgate
