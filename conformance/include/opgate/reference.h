// A trusted computation of what an operator computes, as a callable over a stack.
#pragma once

#include <ATen/core/boxing/KernelFunction.h>
#include <ATen/core/dispatch/Dispatcher.h>

#include <functional>
#include <string>
#include <type_traits>

namespace opgate {

/// Takes the operator's own arguments from the stack and leaves its results there.
using Reference = std::function<void(const c10::OperatorHandle&, torch::jit::Stack&)>;

/// What can be made a Reference: a callable over the operator's C++ argument types, and no operator's name.
template <class Function>
concept ReferenceFunction = !std::is_convertible_v<Function, std::string>;

template <ReferenceFunction Function>
Reference reference_from(Function function) {
  auto kernel = c10::KernelFunction::makeFromUnboxedLambda(std::move(function));
  return [kernel](const c10::OperatorHandle& op, torch::jit::Stack& stack) {
    kernel.callBoxed(op, c10::DispatchKeySet(), &stack);
  };
}

}  // namespace opgate
