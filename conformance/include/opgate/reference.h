// A trusted computation of an operator's results, as a callable over a stack.
#pragma once

#include <ATen/core/boxing/KernelFunction.h>
#include <ATen/core/stack.h>

#include <functional>
#include <string>
#include <type_traits>

namespace opgate {

/// Takes the operator's arguments, in schema order, from the stack and leaves the results there.
using Reference = std::function<void(const c10::OperatorHandle&, torch::jit::Stack&)>;

/// A callable over the operator's C++ argument types, which can be made a Reference. The name of an
/// operator is excluded, because it is a string.
template <class Function>
concept ReferenceFunction = !std::is_convertible_v<Function, std::string>;

/// Wraps `function` so that it takes its arguments from a stack and leaves its results there.
template <ReferenceFunction Function>
Reference reference_from(Function function) {
  auto kernel = c10::KernelFunction::makeFromUnboxedLambda(std::move(function));
  return [kernel](const c10::OperatorHandle& op, torch::jit::Stack& stack) {
    kernel.callBoxed(op, c10::DispatchKeySet(), &stack);
  };
}

}  // namespace opgate
