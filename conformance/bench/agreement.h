// Whether two sides computed the same thing: a benchmark of a wrong answer is worth nothing.
#pragma once

#include <opgate/spec.h>

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace opgate {

/// What differs between `got` and the baseline's `want`, in words; none where they agree in number, shape and
/// dtype, and roughly in value: integers exactly, floating numbers to half of their dtype's digits at the
/// largest finite number of `want`, or to twice what the spec promises, where that is more. This is no
/// conformance: both may round in their own way. Values of the `unspecified` results do not count.
std::optional<std::string> rough_disagreement(const std::vector<at::Tensor>& got,
                                              const std::vector<at::Tensor>& want, const Accuracy& promised,
                                              const std::set<size_t>& unspecified);

}  // namespace opgate
