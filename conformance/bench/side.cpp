#include "bench/side.h"

#include <fmt/format.h>

#include <set>

#include "bench/agreement.h"
#include "call/process_state.h"
#include "checks/outputs.h"
#include "spec/specs.h"

namespace opgate {

Side Side::of_operator(const CallKey& key) {
  const c10::OperatorHandle op = *key.spec->op;
  return Side(key, "the operator", [op](torch::jit::Stack& stack) { op.callBoxed(stack); }, {});
}

Side Side::of_baseline(const CallKey& key, const Bench& bench) {
  const std::string name = "the baseline";
  if (bench.baseline_op.empty()) {
    const auto call = [op = *key.spec->op, baseline = bench.baseline](torch::jit::Stack& stack) {
      baseline(op, stack);
    };
    return Side(key, name, call, {});
  }
  // What the reference by name does in each call is done once here, or the baseline would pay for it.
  const c10::OperatorHandle op = find_reference(bench.baseline_op, bench.sample.where);
  const size_t given = key.sample->arguments.size();
  torch::jit::Stack arguments(given);
  fill_defaults(op, bench.sample.where, arguments);
  arguments.erase(arguments.begin(), arguments.begin() + static_cast<std::ptrdiff_t>(given));
  return Side(
      key, name, [op](torch::jit::Stack& stack) { op.callBoxed(stack); }, std::move(arguments));
}

Outcome Side::run(const torch::jit::Stack& arguments) const {
  if (key_.spec->promised(Promise::draws_random)) seed_default_generator(key_.device);
  Outcome outcome = invoke(
      *key_.spec->op,
      [this](torch::jit::Stack& stack) {
        stack.insert(stack.end(), defaults_.begin(), defaults_.end());
        call_(stack);
      },
      arguments, key_.device);
  if (!outcome.ok()) throw SideRaised(fmt::format("{} raised: {}", name_, outcome.raised->message));
  return outcome;
}

void Side::run(const torch::jit::Stack& arguments, int64_t calls) const {
  torch::jit::Stack all = arguments;
  all.insert(all.end(), defaults_.begin(), defaults_.end());
  for (int64_t call = 0; call < calls; ++call) {
    torch::jit::Stack stack = all;
    call_(stack);
  }
}

void Side::attempt(const std::function<void()>& work) const {
  const Outcome outcome = invoke(
      *key_.spec->op, [&](torch::jit::Stack&) { work(); }, {}, key_.device);
  if (!outcome.ok()) throw SideRaised(fmt::format("{} raised: {}", name_, outcome.raised->message));
}

void demand_same_answer(const Spec& spec, const Outcome& got, const Outcome& want) {
  const std::vector<at::Tensor> mine = got.values();
  const std::vector<at::Tensor> theirs = expected_values(want, got);
  if (mine.size() != theirs.size())
    throw WrongAnswer(fmt::format("{} tensors, where the baseline gives {}", mine.size(), theirs.size()));
  std::vector<Compared> all;
  for (size_t i = 0; i < mine.size(); ++i)
    all.push_back({output_name(i, mine.size()), mine[i], theirs[i], spec.unspecified.contains(i)});
  if (const auto difference = rough_difference(all, *spec.accuracy)) throw WrongAnswer(*difference);
}

int64_t bytes_of(const std::vector<at::Tensor>& tensors) {
  int64_t bytes = 0;
  std::set<const void*> seen;
  for (const at::Tensor& tensor : tensors) {
    if (tensor.defined() && seen.insert(tensor.const_data_ptr()).second)
      bytes += static_cast<int64_t>(tensor.nbytes());
  }
  return bytes;
}

}  // namespace opgate
