// A contender: one of the two sides of a bench, the operator or its baseline.
#pragma once

#include <string>

#include "bench/benchmark_pair.h"
#include "call/invoke.h"

namespace opgate {

class Contender {
 public:
  static Contender of_operator(const CallKey& key);
  /// Throws SpecError if the baseline names an operator that does not exist or takes other arguments.
  static Contender of_baseline(const CallKey& key, const Bench& bench);

  /// Makes the call once. Throws ContenderRaised.
  Outcome run(const torch::jit::Stack& arguments) const;

  /// Makes the same call `calls` times, without catching what it throws. Returns what the last one returned.
  torch::jit::Stack run(const torch::jit::Stack& arguments, int64_t calls) const;

  /// Runs `work` for this contender. Throws ContenderRaised for whatever `work` throws.
  void attempt(const std::function<void()>& work) const;

 private:
  Contender(const CallKey& key, std::string name, BoxedCall call, torch::jit::Stack defaults)
      : key_(key), name_(std::move(name)), call_(std::move(call)), defaults_(std::move(defaults)) {}

  CallKey key_;
  std::string name_;
  BoxedCall call_;
  torch::jit::Stack defaults_;  // for the arguments that the baseline takes beyond the operator's
};

/// Compares the operator's results `got` with the baseline's `want`, one by one, as rough_difference()
/// does. Throws WrongAnswer if two differ.
void demand_same_answer(const CallKey& key, const Outcome& got, const Outcome& want,
                        bool some_may_differ = false);

/// The bytes of the tensors together; tensors with the same data pointer count once.
int64_t bytes_of(const std::vector<at::Tensor>& tensors);

/// Those of `results` that share no memory with what was given: the call has written them. A gradient that is
/// its cotangent, and a view, are not among them.
std::vector<at::Tensor> written_anew(const std::vector<at::Tensor>& results,
                                     const std::vector<at::Tensor>& given);

/// The bytes that a call must move if it reads all that it is given and writes `results`. 0 if it writes
/// nothing anew: then it need not read anything, either.
int64_t bytes_moved(const std::vector<at::Tensor>& given, const std::vector<at::Tensor>& results);

}  // namespace opgate
