#include "call/evidence.h"

#include <fmt/format.h>
#include <opgate/error.h>

#include "call/path.h"
#include "call/process_state.h"
#include "call/widen.h"

namespace opgate {
namespace {

void widen(c10::IValue& value, bool absolute) {
  if (value.isTensor()) {
    value = widened(value.toTensor(), absolute);
  } else if (value.isTensorList()) {
    c10::List<at::Tensor> list;
    for (const at::Tensor& tensor : value.toTensorVector()) list.push_back(widened(tensor, absolute));
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
  dense_ = std::make_shared<const Observation>(observe(key_, bench_.values, {.contiguous = true}));
  if (shared) {
    bench_.dense_call = id;
    bench_.dense = dense_;
  }
  return *dense_;
}

const Observation& Evidence::repoisoned() {
  if (!repoisoned_) repoisoned_ = observe(key_, bench_.values, {.photographed = false}, kSecondPoison);
  return *repoisoned_;
}

const Outcome& Evidence::reference() {
  if (!reference_) reference_ = run_reference(key_.spec->reference, {}, false);
  return *reference_;
}

Outcome Evidence::reference(const Making& making) {
  return making.stream == 0 ? reference() : run_reference(key_.spec->reference, making, false);
}

Outcome Evidence::run_reference(const Reference& reference, Making making, bool absolute) {
  if (reference == nullptr)
    throw SpecError(
        fmt::format("{}: {} has no reference to compare with", key_.spec->where, key_.spec->name));
  making.contiguous = true;
  making.photographed = false;
  torch::jit::Stack stack = materialise(key_, bench_.values, making).stack;
  for (c10::IValue& value : stack) widen(value, absolute);
  if (key_.spec->promised(Promise::draws_random)) seed_default_generator(key_.device);
  return invoke(
      op(), [&](torch::jit::Stack& s) { reference(op(), s); }, std::move(stack), key_.device);
}

}  // namespace opgate
