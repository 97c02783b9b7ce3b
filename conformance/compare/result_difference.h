// How far the results of two builds of an operator are from each other.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace opgate {

/// The difference of two lists of results, over all elements of all tensors.
struct ResultDifference {
  int64_t differing = 0;  ///< number of elements that are not equal; 0 and -0 are equal, and so are two NaNs
  int64_t total = 0;      ///< number of elements
  /// The largest difference, in ulps at the larger of the two elements; infinity where only one of them is
  /// NaN or infinite, and where elements differ that are not floating.
  double ulps = 0;
  double ulps_at_largest = 0;  ///< the same, in ulps at the largest finite magnitude of the tensor
};

/// Compares the results element by element. Undefined tensors are not compared. Nothing if the lists have
/// different lengths, or two tensors different shapes or dtypes.
std::optional<ResultDifference> difference_of(const std::vector<at::Tensor>& base,
                                              const std::vector<at::Tensor>& head);

}  // namespace opgate
