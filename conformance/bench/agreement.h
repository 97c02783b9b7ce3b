// Checks that an operator and its baseline compute the same thing, because the speed of a wrong answer
// means nothing.
#pragma once

#include <ATen/core/Tensor.h>
#include <opgate/accuracy.h>

#include <optional>
#include <string>
#include <vector>

namespace opgate {

/// A result or gradient of the operator, with the baseline's.
struct Compared {
  std::string name;  ///< "the output"
  at::Tensor got;
  at::Tensor want;
  bool unspecified = false;  ///< the spec does not promise its values: only shape and dtype are compared
};

/// The first difference, in words; none if the tensors agree in shape and dtype, and roughly in value:
/// integers exactly, floating numbers to half of their dtype's digits at the largest finite number of `want`,
/// or to twice the accuracy that the spec promises, if that is more. The tolerance is wide, because the two
/// sides may round in different ways. With `some_may_differ`, one in 64 integers may be another one: those
/// that follow from a floating number near a threshold do so for some of many values.
std::optional<std::string> rough_difference(const std::vector<Compared>& all, const Accuracy& promised,
                                            bool some_may_differ = false);

}  // namespace opgate
