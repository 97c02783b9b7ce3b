// Operators whose CUDA kernels compute in float what the CPU's kernels compute in the type of half-precision
// tensors.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>

#include <cstddef>
#include <utility>
#include <vector>

namespace opgate::simulator::aten {

/// A call of the CPU's kernel in float, if CUDA's kernel computes so and all tensors of the call that hold
/// numbers of floating point are of the same type of 16 bits. Then results are rounded once, as on a GPU.
class InFloat {
 public:
  /// Converts the `count` arguments at the end of the stack.
  InFloat(const c10::OperatorHandle& op, torch::jit::Stack& stack, std::size_t count);

  /// After the call: rounds what it has written to its arguments, and the tensors among its `count` results
  /// at the end of the stack, to the type of the arguments.
  void round_results(torch::jit::Stack& stack, std::size_t count) const;

 private:
  at::ScalarType type_ = at::ScalarType::Undefined;  // of the arguments; undefined if nothing is converted
  std::size_t rounded_ = 0;                          // so many results are
  std::vector<std::pair<at::Tensor, at::Tensor>> written_;  // an argument, and the float tensor for it
};

}  // namespace opgate::simulator::aten
