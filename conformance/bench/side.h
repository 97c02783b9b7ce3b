// One of the two sides of a bench: the operator, or its baseline.
#pragma once

#include <string>

#include "bench/contest.h"
#include "call/invoke.h"

namespace opgate {

class Side {
 public:
  static Side of_operator(const CallKey& key);
  /// Throws SpecError where the baseline is an operator that is not there, or that takes other arguments.
  static Side of_baseline(const CallKey& key, const Bench& bench);

  /// Makes the call once. Throws SideRaised.
  Outcome run(const torch::jit::Stack& arguments) const;

  /// The same call, many times.
  void run(const torch::jit::Stack& arguments, int64_t calls) const;

  /// Does `work`, which is this side's. Throws SideRaised for whatever it throws.
  void attempt(const std::function<void()>& work) const;

 private:
  Side(const CallKey& key, std::string name, BoxedCall call, torch::jit::Stack defaults)
      : key_(key), name_(std::move(name)), call_(std::move(call)), defaults_(std::move(defaults)) {}

  CallKey key_;
  std::string name_;
  BoxedCall call_;
  torch::jit::Stack defaults_;  // of arguments that it takes beyond the operator's
};

/// Throws WrongAnswer where what the operator gave is not roughly what the baseline gave, result by result.
void demand_same_answer(const Spec& spec, const Outcome& got, const Outcome& want);

/// Bytes of the tensors, those of one memory once.
int64_t bytes_of(const std::vector<at::Tensor>& tensors);

}  // namespace opgate
