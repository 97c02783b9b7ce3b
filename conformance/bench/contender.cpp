#include "bench/contender.h"

#include <fmt/format.h>

#include <set>

#include "bench/agreement.h"
#include "compare/agreement.h"
#include "process/default_generator.h"
#include "spec/spec.h"
#include "spec/specs.h"

namespace opgate {

Contender Contender::of_operator(const CallKey& key) {
  const c10::OperatorHandle op = *key.spec->op;
  return Contender(key, "the operator", [op](torch::jit::Stack& stack) { op.callBoxed(stack); }, {});
}

Contender Contender::of_baseline(const CallKey& key, const Bench& bench) {
  const std::string name = "the baseline";
  if (bench.baseline_op.empty()) {
    const auto call = [op = *key.spec->op, baseline = bench.baseline](torch::jit::Stack& stack) {
      baseline(op, stack);
    };
    return Contender(key, name, call, {});
  }
  // The lookup and the defaults are done once, here, so that they do not count as time of the baseline.
  const c10::OperatorHandle op = find_reference(bench.baseline_op, bench.sample.where);
  const size_t given = key.sample->arguments.size();
  torch::jit::Stack arguments(given);
  fill_defaults(op, bench.sample.where, arguments);
  arguments.erase(arguments.begin(), arguments.begin() + static_cast<std::ptrdiff_t>(given));
  return Contender(
      key, name, [op](torch::jit::Stack& stack) { op.callBoxed(stack); }, std::move(arguments));
}

Outcome Contender::run(const torch::jit::Stack& arguments) const {
  if (key_.spec->promised(Promise::nondeterministic_seeded)) seed_default_generator(key_.device);
  Outcome outcome = invoke(
      *key_.spec->op,
      [this](torch::jit::Stack& stack) {
        stack.insert(stack.end(), defaults_.begin(), defaults_.end());
        call_(stack);
      },
      arguments, key_.device);
  if (!outcome.ok()) throw ContenderRaised(fmt::format("{} raised: {}", name_, outcome.raised->message));
  return outcome;
}

torch::jit::Stack Contender::run(const torch::jit::Stack& arguments, int64_t calls) const {
  torch::jit::Stack all = arguments;
  all.insert(all.end(), defaults_.begin(), defaults_.end());
  torch::jit::Stack stack;
  for (int64_t call = 0; call < calls; ++call) {
    stack = all;
    call_(stack);
  }
  return stack;
}

void Contender::attempt(const std::function<void()>& work) const {
  const Outcome outcome = invoke(
      *key_.spec->op, [&](torch::jit::Stack&) { work(); }, {}, key_.device);
  if (!outcome.ok()) throw ContenderRaised(fmt::format("{} raised: {}", name_, outcome.raised->message));
}

void demand_same_answer(const CallKey& key, const Outcome& got, const Outcome& want, bool some_may_differ) {
  const std::vector<at::Tensor> mine = got.values();
  const std::vector<at::Tensor> theirs = expected_values(want, got);
  if (mine.size() != theirs.size())
    throw WrongAnswer(fmt::format("the operator returns {} tensors, and the baseline returns {}", mine.size(),
                                  theirs.size()));
  std::vector<Compared> all;
  const std::set<size_t> unspecified = got.tensors_of(key.spec->unspecified);
  for (size_t i = 0; i < mine.size(); ++i)
    all.push_back({output_name(i, mine.size()), mine[i], theirs[i], unspecified.contains(i)});
  if (const auto difference = rough_difference(all, key.spec->accuracy_for(key.dtype), some_may_differ))
    throw WrongAnswer(*difference);
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

std::vector<at::Tensor> written_anew(const std::vector<at::Tensor>& results,
                                     const std::vector<at::Tensor>& given) {
  std::vector<at::Tensor> anew;
  for (const at::Tensor& result : results) {
    if (!result.defined() || !result.has_storage()) continue;
    const bool shared = std::ranges::any_of(given, [&](const at::Tensor& tensor) {
      return tensor.defined() && tensor.storage().is_alias_of(result.storage());
    });
    if (!shared) anew.push_back(result);
  }
  return anew;
}

int64_t bytes_moved(const std::vector<at::Tensor>& given, const std::vector<at::Tensor>& results) {
  const std::vector<at::Tensor> anew = written_anew(results, given);
  return anew.empty() ? 0 : bytes_of(given) + bytes_of(anew);
}

}  // namespace opgate
