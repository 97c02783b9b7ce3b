#include "call/evidence.h"

#include <fmt/format.h>
#include <opgate/error.h>

#include "call/path.h"

namespace opgate {
namespace {

at::Tensor widened(const at::Tensor& tensor) {
  if (tensor.is_complex()) return tensor.to(c10::kComplexDouble);
  return tensor.is_floating_point() ? tensor.to(c10::kDouble) : tensor;
}

void widen(c10::IValue& value) {
  if (value.isTensor()) {
    value = widened(value.toTensor());
  } else if (value.isTensorList()) {
    c10::List<at::Tensor> list;
    for (const at::Tensor& tensor : value.toTensorVector()) list.push_back(widened(tensor));
    value = std::move(list);
  }
}

}  // namespace

Evidence::Evidence(CallKey key, Workbench& bench) : key_(std::move(key)), bench_(bench) {}

const Observation& Evidence::by(std::string_view path) {
  auto& made = by_path_[std::string(path)];
  if (made == nullptr) {
    const Path* way = Registry<Path>::instance().find(path);
    if (way == nullptr) throw SetupError(fmt::format("no path is named '{}'", path));
    made = std::make_shared<const Observation>(way->run(*this));
  }
  return *made;
}

const Observation& Evidence::dense() {
  if (key_.is_contiguous()) return observed();
  if (dense_ != nullptr) return *dense_;
  // Layouts that only move the sample's values share one dense call.
  const bool shared = keeps_values(key_);
  CallKey contiguous = key_;
  contiguous.variant = kContiguous;
  const std::string id = call_id(contiguous);
  if (shared && bench_.dense_call == id) return *(dense_ = bench_.dense);
  Arguments arguments = materialise(key_, bench_.values, {.contiguous = true});
  Outcome outcome = invoke(op(), arguments.stack, key_.device);
  dense_ = std::make_shared<const Observation>(Observation{std::move(arguments), std::move(outcome)});
  if (shared) {
    bench_.dense_call = id;
    bench_.dense = dense_;
  }
  return *dense_;
}

const Outcome& Evidence::reference() {
  if (!reference_) {
    torch::jit::Stack stack =
        materialise(key_, bench_.values, {.contiguous = true, .photographed = false}).stack;
    for (c10::IValue& value : stack) widen(value);
    reference_ = invoke(
        op(), [this](torch::jit::Stack& s) { key_.spec->reference(op(), s); }, std::move(stack), key_.device);
  }
  return *reference_;
}

}  // namespace opgate
