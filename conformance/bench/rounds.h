// What both sides of a bench are timed on changes from round to round, and what they return is compared after each:
// a speed is a claim about every call, and not about the first.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <vector>

#include "call/invoke.h"
#include "inputs/arguments.h"

namespace opgate {

/// Called by measure() around its rounds. A round is one batch of calls of each side.
struct Rounds {
  /// After both sides have run for a while, before the first round.
  std::function<void()> start = [] {};
  /// Before each round: gives both sides new inputs.
  std::function<void()> renew = [] {};
  /// After each round: throws WrongAnswer where the two sides do not agree.
  std::function<void()> check = [] {};
};

/// The floating-point tensors of the arguments, with other contents for each round. Integers keep theirs, because they
/// may be indices, offsets or lengths, which are valid only together.
class ChangingInputs {
 public:
  /// `tensors` are overwritten in place, so that their addresses stay.
  explicit ChangingInputs(std::vector<at::Tensor> tensors);

  /// The same elements in another order: each tensor is rolled by a random number of elements.
  void change();

 private:
  std::vector<at::Tensor> tensors_;
  uint64_t round_ = 0;
};

/// What one side returned in a round: the results as they were when the last call returned, and the same tensors for a
/// later look.
class RoundResult {
 public:
  RoundResult() = default;
  explicit RoundResult(torch::jit::Stack returned);

  const Outcome& outcome() const { return at_return_; }
  /// Whether something has written to the results since the call returned.
  bool has_changed() const;

 private:
  Outcome at_return_;
  std::vector<at::Tensor> live_;
};

/// The number of threads of this process.
size_t thread_count();

}  // namespace opgate
