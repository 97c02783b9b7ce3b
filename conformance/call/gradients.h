// Gradients and tangents through autograd. A file of its own, because autograd's headers take long to
// compile.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace opgate {

/// Of a second order, the gradients can be differentiated again.
enum class Order { first, second };

/// The gradient at each of `inputs`, given those at `outputs`; undefined where no output depends on it. The
/// graph stays, so that it can be asked for again. Throws c10::Error.
std::vector<at::Tensor> gradients(const std::vector<at::Tensor>& outputs,
                                  const std::vector<at::Tensor>& inputs,
                                  const std::vector<at::Tensor>& cotangents, Order order = Order::first);

/// Forward mode, for as long as it lives: tangents given at inputs reach the results of calls.
class ForwardMode {
 public:
  ForwardMode();
  ~ForwardMode();
  ForwardMode(const ForwardMode&) = delete;
  ForwardMode& operator=(const ForwardMode&) = delete;

  /// Gives `input` a tangent of its sizes and dtype. It is laid out as the input is.
  void set_tangent(const at::Tensor& input, const at::Tensor& tangent) const;
  /// Undefined where `result` depends on no input that has one.
  at::Tensor tangent(const at::Tensor& result) const;

 private:
  uint64_t level_;
};

}  // namespace opgate
