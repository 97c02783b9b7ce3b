// Gradients and tangents through autograd. They have a file of their own, because autograd's headers are
// slow to compile.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace opgate {

/// Gradients of order `second` can be differentiated again (create_graph).
enum class Order { first, second };

/// The gradient at each of `inputs` for the cotangents (incoming gradients) at `outputs`; undefined for an
/// input that no output depends on. The graph is retained, so that it can be used again. Throws c10::Error
/// if a backward function fails.
std::vector<at::Tensor> gradients(const std::vector<at::Tensor>& outputs,
                                  const std::vector<at::Tensor>& inputs,
                                  const std::vector<at::Tensor>& cotangents, Order order = Order::first);

/// Enables forward-mode differentiation for as long as it lives: calls propagate the tangents of their
/// inputs to their results.
class ForwardMode {
 public:
  ForwardMode();
  ~ForwardMode();
  ForwardMode(const ForwardMode&) = delete;
  ForwardMode& operator=(const ForwardMode&) = delete;

  /// Gives `input` a tangent with the same sizes and dtype; PyTorch lays it out as the input is.
  void set_tangent(const at::Tensor& input, const at::Tensor& tangent) const;
  /// The tangent of `result`; undefined if it depends on no input that has a tangent.
  at::Tensor tangent(const at::Tensor& result) const;

 private:
  uint64_t level_;
};

}  // namespace opgate
