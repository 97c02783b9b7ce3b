// Whether two lists of tensors, such as the results of two calls, agree within the promised accuracy.
#pragma once

#include <ATen/core/Tensor.h>
#include <opgate/accuracy.h>

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace opgate {

/// What to do where the wanted tensor has another dtype than the operator's result.
enum class Rounding {
  none,       ///< another dtype is a difference
  to_output,  ///< a wider floating dtype is accepted; for an exact accuracy it is rounded first
};

/// How closely two lists of tensors must agree.
struct Agreement {
  Accuracy accuracy = exact();
  Rounding rounding = Rounding::none;
  std::set<size_t> unspecified = {};    ///< tensors of which only shape and dtype are compared
  std::vector<at::Tensor> scales = {};  ///< one for each tensor, for an accuracy scaled by inputs; or empty
};

/// The first tensor that does not agree.
struct Disagreement {
  std::string difference;               ///< "output 1: 3 of 24 elements differ, the first at ..."
  std::vector<std::string> neighbours;  ///< the elements around it, for the reader
  bool is_of_values = false;            ///< false if the shape, the dtype or the number of tensors differs
};

struct AgreementResult {
  double worst_ulps = 0;  ///< the largest error in the tensors that agree
  std::optional<Disagreement> disagreement;
};

/// Compares each tensor of `got` with its counterpart in `want`, up to the first that does not agree. Lists
/// of different lengths do not agree.
AgreementResult compare_lists(const std::vector<at::Tensor>& got, const std::vector<at::Tensor>& want,
                              const Agreement& agreement);

/// SHA-1 over dtype, shape and row-major bytes of each tensor, which may be undefined: equal digests mean
/// bitwise equal tensors.
std::string digest(const std::vector<at::Tensor>& tensors);

/// The name of result `i` of `count`: "the output", or "output 1".
std::string output_name(size_t i, size_t count);

}  // namespace opgate
