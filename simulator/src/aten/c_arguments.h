// The arguments of a C shim of AOTInductor, from which the operator's are made.
#pragma once

#include <ATen/core/function_schema.h>
#include <ATen/core/stack.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace opgate::simulator::aten {

/// One argument of the C function. The schema of the operator says what it is, and what a pointer points to.
union CArgument {
  CArgument(std::int32_t value) : small(value) {}
  CArgument(std::int64_t value) : large(value) {}
  CArgument(double value) : number(value) {}
  CArgument(const void* value) : pointer(value) {}

  std::int32_t small;
  std::int64_t large;
  double number;
  const void* pointer;
};

/// The arguments of the operator in the order of its schema. Those that an earlier version of the C function
/// lacks get their defaults. Raises c10::Error if a type cannot be passed to C.
torch::jit::Stack arguments_from_c(const c10::FunctionSchema& schema, std::span<const CArgument> given);

/// Gives the results of the operator, which lie on the stack, to the C function's last arguments; a null
/// pointer gets none. What the operator writes to and returns as well is not given.
void results_to_c(const c10::FunctionSchema& schema, torch::jit::Stack& stack,
                  std::span<const CArgument> given);

}  // namespace opgate::simulator::aten
