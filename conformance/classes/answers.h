// Values of any kind that a method takes or gives: compared, copied, shown, overwritten.
#pragma once

#include <ATen/core/Tensor.h>
#include <opgate/accuracy.h>

#include <optional>
#include <string>
#include <vector>

#include "classes/object.h"

namespace opgate {

/// The tensors in a value, those inside lists, tuples and dicts too.
std::vector<at::Tensor> all_tensors(const c10::IValue& value);

/// A copy that shares no memory with the value.
c10::IValue copied(const c10::IValue& value);
torch::jit::Stack copied(const torch::jit::Stack& values);

/// How two values differ: "got 3, want 4", "element 1: got ..."; none where `got` is within `accuracy` of
/// `want`. Numbers and tensors of the same dtype are compared, nothing is converted. The worst error goes
/// into `worst_ulps`. Objects of classes are alike if their classes are.
std::optional<std::string> difference(const c10::IValue& got, const c10::IValue& want, Accuracy accuracy,
                                      double& worst_ulps);

/// The same for answers: an exception equals any other exception.
std::optional<std::string> difference(const Answer& got, const Answer& want, Accuracy accuracy,
                                      double& worst_ulps);

/// Bitwise.
bool same(const c10::IValue& a, const c10::IValue& b);

/// Some tensor of `a` lies in the same storage as some tensor of `b`.
bool share_memory(const c10::IValue& a, const c10::IValue& b);

/// Gives the elements of every tensor in the value other values that its dtype can have: 1 for 0, else 0.
void overwrite(const c10::IValue& value);

}  // namespace opgate
