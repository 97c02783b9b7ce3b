#include "bench/rounds.h"

#include <ATen/Parallel.h>
#include <ATen/ops/roll.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>

#include "base/tensors_in.h"
#include "compare/agreement.h"
#include "values/counter.h"
#include "values/domain.h"

namespace opgate {
namespace {

// Domains in which each element may have any value, whatever the others are.
constexpr std::array<std::string_view, 3> kIndependent{"uniform", "positive", "indices"};
constexpr int64_t kGenerated = int64_t{1} << 16;

bool can_change(const ChangingInput& input) {
  return input.tensor.defined() && input.tensor.numel() > 0 && input.tensor.is_contiguous() &&
         std::ranges::find(kIndependent, input.domain.family) != kIndependent.end();
}

// Whether the task of this process is about to end: pthread_join returns before it is gone.
bool is_exiting(const std::filesystem::path& task) {
  constexpr unsigned kExiting = 0x4;  // PF_EXITING of Linux
  constexpr int kFlags = 6;           // the position of the flags after the name, see proc(5)
  std::ifstream stream(task / "stat");
  std::string text;
  if (!std::getline(stream, text)) return true;  // it has ended since it was listed
  std::istringstream fields(text.substr(text.rfind(')') + 1));
  std::string skipped;
  unsigned flags = 0;
  for (int i = 0; i < kFlags; ++i) fields >> skipped;
  fields >> flags;
  return (flags & kExiting) != 0;
}

}  // namespace

ChangingInputs::ChangingInputs(std::vector<ChangingInput> inputs) : inputs_(std::move(inputs)) {
  std::erase_if(inputs_, [](const ChangingInput& input) { return !can_change(input); });
  for (const ChangingInput& input : inputs_) elements_ += input.tensor.numel();
}

void ChangingInputs::change() {
  for (const ChangingInput& input : inputs_) {
    const at::Tensor tensor = input.tensor.detach();
    const uint64_t key = next_key();
    if (elements_ <= kGenerated) {
      tensor.copy_(make_values(input.domain, mix64(key), tensor.sizes(), tensor.scalar_type()));
    } else if (tensor.numel() > 1) {
      const auto others = static_cast<uint64_t>(tensor.numel() - 1);
      // Without a dim, elements are rolled in row-major order.
      tensor.copy_(at::roll(tensor, static_cast<int64_t>(1 + bits_at(key, 0) % others)));
    }
  }
}

void ChangingInputs::change_one_element() {
  if (inputs_.empty()) return;
  const uint64_t key = next_key();
  const ChangingInput& input = inputs_[key % inputs_.size()];
  const at::Tensor elements = input.tensor.detach().view(-1);
  const auto at = static_cast<int64_t>(bits_at(key, 1) % static_cast<uint64_t>(elements.numel()));
  elements.narrow(0, at, 1).copy_(make_values(input.domain, mix64(key), {1}, elements.scalar_type()));
}

RoundResult::RoundResult(const torch::jit::Stack& returned) {
  for (const c10::IValue& result : returned) {
    for (const at::Tensor& tensor : tensors_in(result)) live_.push_back(tensor);
    const bool is_none = result.isTensor() && !result.toTensor().defined();
    at_return_.results.push_back(is_none ? result : result.deepcopy());
  }
}

bool RoundResult::has_changed() const { return digest(live_) != digest(at_return_.returned()); }

size_t thread_count() {
  size_t count = 0;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task"))
    count += !is_exiting(task.path());
  return count;
}

void start_thread_pool() {
  at::parallel_for(0, at::get_num_threads(), 1, [](int64_t, int64_t) {});
}

}  // namespace opgate
