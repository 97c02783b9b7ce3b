// Compares, copies and overwrites the values that a method takes or returns.
#pragma once

#include <ATen/core/Tensor.h>
#include <opgate/accuracy.h>

#include <optional>
#include <string>

#include "classes/object.h"

namespace opgate {

/// A copy that shares no memory with the value.
c10::IValue deep_copy(const c10::IValue& value);
torch::jit::Stack deep_copy(const torch::jit::Stack& values);

/// How two values differ: "got 3, want 4", "element 1: got ..."; none if `got` is within `accuracy` of
/// `want`. Nothing is converted: values of different types or dtypes differ. `worst_ulps` is raised to the
/// worst error. Two objects are equal if their classes are.
std::optional<std::string> difference(const c10::IValue& got, const c10::IValue& want, Accuracy accuracy,
                                      double& worst_ulps);

/// How two answers differ. Two exceptions never differ, whatever their messages.
std::optional<std::string> difference(const Answer& got, const Answer& want, Accuracy accuracy,
                                      double& worst_ulps);

/// Whether the values are equal, tensors and numbers bit for bit.
bool same(const c10::IValue& a, const c10::IValue& b);

/// Whether some tensor of `a` lies in the same storage as some tensor of `b`.
bool share_memory(const c10::IValue& a, const c10::IValue& b);

/// Replaces the elements of every tensor in the value: 0 becomes 1, and everything else becomes 0.
void overwrite(const c10::IValue& value);

}  // namespace opgate
