// A few numbers that describe what a call returned: enough to tell another function from another rounding of
// the same one, and small enough to be kept as text where the values themselves would be too much.
#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace opgate {

/// The summary of one tensor. Elements x of a floating or complex tensor (real and imaginary parts are
/// elements of their own) are compressed to asinh(x), so that a few large ones do not hide the others.
struct ValueSummary {
  int64_t count = 0;  ///< finite elements
  int64_t nans = 0;
  int64_t positive_infinities = 0;
  int64_t negative_infinities = 0;
  double magnitude = 0;          ///< the sum of |asinh(x)|
  std::array<double, 3> sums{};  ///< sums of asinh(x): plain, and with two fixed random choices of signs
  std::string exact;  ///< for other dtypes: the first digits of a digest of the bytes; no sums then

  bool operator==(const ValueSummary&) const = default;
};

/// Summarises a defined tensor of any device and layout. The order of the elements is that of the indices.
ValueSummary summary_of(const at::Tensor& tensor);

/// "24: 3.14 1.5 -2 0.25", with "nan 1", "inf 2" and "-inf 3" after the count where there are any, or the
/// digest of a tensor that is compared exactly.
std::string to_text(const ValueSummary& summary);

/// The inverse of to_text(); nothing for any other text.
std::optional<ValueSummary> summary_from(std::string_view text);

/// Whether two roundings of the same values can have these summaries. `error` is the largest error of an
/// element, relative to the larger of the element and 1.
bool may_be_same_values(const ValueSummary& one, const ValueSummary& other, double error);

}  // namespace opgate
