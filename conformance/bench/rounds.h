// What both sides of a bench are timed on changes from round to round, and what they return is compared after
// each: a speed is a claim about every call, and not about the first.
#pragma once

#include <ATen/core/Tensor.h>
#include <opgate/values.h>

#include <cstdint>
#include <functional>
#include <vector>

#include "call/invoke.h"

namespace opgate {

/// Called by measure() around its rounds. A round is one batch of calls of each side.
struct Rounds {
  /// After both sides have run for a while, before the first round.
  std::function<void()> start = [] {};
  /// Before each round: gives both sides new inputs.
  std::function<void()> renew = [] {};
  /// After each round: throws WrongAnswer if the two sides do not agree.
  std::function<void()> check = [] {};
};

/// A contiguous tensor, and the domain of its values.
struct ChangingInput {
  at::Tensor tensor;
  Domain domain;
};

/// Gives inputs other values of their domains, in place, so that their addresses stay. Inputs whose elements
/// are valid only together, such as boxes, offsets or sorted numbers, keep theirs.
class ChangingInputs {
 public:
  explicit ChangingInputs(std::vector<ChangingInput> inputs);

  /// Changes all elements: up to 65,536 get new values; more are rolled by a random number of elements,
  /// because generating them would take longer than timing the calls.
  void change();

  /// Gives one element of one input another value.
  void change_one_element();

 private:
  uint64_t next_key() { return ++changes_; }

  std::vector<ChangingInput> inputs_;
  int64_t elements_ = 0;
  uint64_t changes_ = 0;
};

/// What one side returned in a round: the results as they were when the last call returned, and the same
/// tensors for a later look.
class RoundResult {
 public:
  RoundResult() = default;
  explicit RoundResult(const torch::jit::Stack& returned);

  const Outcome& outcome() const { return at_return_; }
  /// Whether something has written to the results since the call returned.
  bool has_changed() const;

 private:
  Outcome at_return_;
  std::vector<at::Tensor> live_;
};

/// The number of threads of this process that are not about to end.
size_t thread_count();

/// Starts the threads of torch's own pool, which else start with the first large tensor.
void start_thread_pool();

}  // namespace opgate
