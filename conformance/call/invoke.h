// Calls an operator boxed through the dispatcher and catches whatever it does.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace opgate {

/// The tensors in one value: itself, or those of a list.
std::vector<at::Tensor> tensors_in(const c10::IValue& value);

/// An exception, in words: the message without a backtrace.
struct Raised {
  std::string message;
};

struct Outcome {
  torch::jit::Stack results;  ///< empty where it raised
  std::optional<Raised> raised;
  std::vector<at::Tensor> written;  ///< arguments that the schema declares mutable, as the call left them

  bool ok() const { return !raised.has_value(); }
  /// The tensors among the results, those inside lists too, in order.
  std::vector<at::Tensor> returned() const;
  /// Everything that has values to be right: what was returned, then what was written.
  std::vector<at::Tensor> values() const;
};

using BoxedCall = std::function<void(torch::jit::Stack&)>;

/// Runs `call` on `stack`, which holds the arguments of `op`; what it leaves there are the results. Waits for
/// the device.
Outcome invoke(const c10::OperatorHandle& op, const BoxedCall& call, torch::jit::Stack stack,
               c10::DeviceType device);

/// The operator itself.
Outcome invoke(const c10::OperatorHandle& op, torch::jit::Stack stack, c10::DeviceType device);

}  // namespace opgate
