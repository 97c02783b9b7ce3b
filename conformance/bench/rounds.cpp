#include "bench/rounds.h"

#include <ATen/ops/roll.h>

#include <algorithm>
#include <filesystem>

#include "base/tensors_in.h"
#include "compare/agreement.h"
#include "values/counter.h"

namespace opgate {

ChangingInputs::ChangingInputs(std::vector<at::Tensor> tensors) : tensors_(std::move(tensors)) {
  std::erase_if(tensors_, [](const at::Tensor& tensor) {
    return !tensor.defined() || !(tensor.is_floating_point() || tensor.is_complex()) || tensor.numel() < 2;
  });
}

void ChangingInputs::change() {
  ++round_;
  for (size_t i = 0; i < tensors_.size(); ++i) {
    const at::Tensor tensor = tensors_[i].detach();
    const auto others = static_cast<uint64_t>(tensor.numel() - 1);
    const auto shift = static_cast<int64_t>(1 + bits_at(round_, i) % others);
    tensor.copy_(at::roll(tensor, shift));  // without a dim, elements are rolled in row-major order
  }
}

RoundResult::RoundResult(torch::jit::Stack returned) {
  for (const c10::IValue& result : returned) {
    for (const at::Tensor& tensor : tensors_in(result)) live_.push_back(tensor);
    const bool is_none = result.isTensor() && !result.toTensor().defined();
    at_return_.results.push_back(is_none ? result : result.deepcopy());
  }
}

bool RoundResult::has_changed() const { return digest(live_) != digest(at_return_.returned()); }

size_t thread_count() {
  const std::filesystem::directory_iterator threads("/proc/self/task");
  return static_cast<size_t>(std::distance(begin(threads), end(threads)));
}

}  // namespace opgate
