// Whether two sides computed the same thing: a benchmark of a wrong answer is worth nothing.
#pragma once

#include <ATen/core/Tensor.h>
#include <opgate/accuracy.h>

#include <optional>
#include <string>
#include <vector>

namespace opgate {

/// One tensor of the operator beside its baseline's.
struct Compared {
  std::string name;  ///< "the output"
  at::Tensor got;
  at::Tensor want;
  bool unspecified = false;  ///< its values are not promised: shape and dtype alone count
};

/// The first difference, in words; none where the tensors agree in shape and dtype, and roughly in value:
/// integers exactly, floating numbers to half of their dtype's digits at the largest finite number of `want`,
/// or to twice what the spec promises, where that is more. This is no conformance: each may round in its own
/// way.
std::optional<std::string> rough_difference(const std::vector<Compared>& all, const Accuracy& promised);

}  // namespace opgate
