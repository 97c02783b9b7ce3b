// Compares two tensors element by element and says where and how they differ. Shapes must be equal: nothing
// is broadcast, and no dtype is converted silently. -0 differs from 0 if the accuracy is exact; each NaN
// equals each other.
#pragma once

#include <ATen/core/Tensor.h>
#include <opgate/accuracy.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace opgate {

struct Comparison {
  int64_t differing = 0;   ///< number of elements outside the accuracy
  int64_t total = 0;       ///< number of elements
  int64_t first = -1;      ///< row-major position of the first differing element; -1 if there is none
  double first_ulps = 0;   ///< the error of that element; 0 where the dtype has no ulps
  double worst_ulps = 0;   ///< the largest error of all elements, accepted or not; 0 without ulps
  int64_t worst = -1;      ///< row-major position of the largest error; -1 if there is none
  bool by_inputs = false;  ///< errors are in ulps at the scale that the inputs give
  std::optional<c10::ScalarType> ulps_of = {};  ///< the dtype whose ulps count, where it is not the result's
  std::optional<std::string> unlike;  ///< what makes values incomparable: "shape [2, 3], not [2, 4]"

  bool within() const { return differing == 0 && !unlike; }
};

/// Compares `got` with `want`. Shapes must be equal, and dtypes too, except that an accuracy in ulps
/// accepts a wider floating `want` (Double). The tensors may have any strides and be on any device. Bits,
/// integers and bools are compared exactly, whatever the accuracy.
///
/// `scale`, if it is defined, is the reference's result for the absolute values of the inputs. An accuracy
/// that is scaled by inputs measures each error in ulps at |want| or |scale|, whichever is larger. Each
/// part of a complex number is measured by itself, at its own magnitude or at the modulus of the scale,
/// because each part of a product depends on both parts of its factors. Throws SpecError for a scale whose
/// shape differs from `want`'s.
Comparison compare(const at::Tensor& got, const at::Tensor& want, Accuracy accuracy,
                   const at::Tensor& scale = {});

/// The element at row-major position `linear` as text, with enough digits to tell it from its neighbours:
/// "0.4219", "nan (0x7fc00001)", "-0", "(1, -2)". An element that is not a number is given as bytes:
/// "0x3f".
std::string element_text(const at::Tensor& tensor, int64_t linear);

/// The first differing element with up to 3 neighbours on each side along the last dim: one line for `got`
/// and one for `want`. Empty if no element differs or the tensors have no dims.
std::vector<std::string> neighbourhood(const Comparison& comparison, const at::Tensor& got,
                                       const at::Tensor& want);

/// The difference in words: "509 of 1542 elements differ, the first at [0, 0, 1]: got 0.4219, want -1.1328
/// (398 ulps)".
std::string difference_text(const Comparison& comparison, const at::Tensor& got, const at::Tensor& want);

}  // namespace opgate
