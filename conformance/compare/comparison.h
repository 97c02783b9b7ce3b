// Compares two tensors element by element and says where and how they differ. Shapes must be equal: nothing
// is broadcast, no dtype is converted silently, -0 is not 0 where bits are promised.
#pragma once

#include <ATen/core/Tensor.h>
#include <opgate/accuracy.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace opgate {

struct Comparison {
  int64_t differing = 0;  ///< elements outside the promise
  int64_t total = 0;
  int64_t first = -1;      ///< row-major position of the first such element
  double first_ulps = 0;   ///< its error; 0 where the dtype has no ulps
  double worst_ulps = 0;   ///< over all elements, those within the promise too; 0 where the dtype has no ulps
  int64_t worst = -1;      ///< its row-major position
  bool by_inputs = false;  ///< errors are in ulps at the scale that the inputs give
  std::optional<std::string> unlike;  ///< what makes values incomparable: "shape [2, 3], not [2, 4]"

  bool within() const { return differing == 0 && !unlike; }
};

/// `got` against `want`: equal shapes; equal dtypes too, except that the accuracy in ulps takes a wider
/// floating `want` (Double). Tensors may have any strides and be on any device. Bits, integers and bools are
/// compared exactly, whatever the accuracy.
///
/// `scale` is the reference's result for the absolute values of the inputs, where there is one; an accuracy
/// that is scaled by inputs measures each error in ulps at |want| or |scale|, whichever is larger. Of a
/// complex number each part is measured by itself, at its own magnitude or the modulus of the scale: the
/// parts of a product mix those of its factors. Throws SpecError for a scale of another shape than `want`.
Comparison compare(const at::Tensor& got, const at::Tensor& want, Accuracy accuracy,
                   const at::Tensor& scale = {});

/// One element as text, exact enough to tell it from its neighbours: "0.4219", "nan (0x7fc00001)", "-0", "(1,
/// -2)"; the bytes of one that is no number: "0x3f".
std::string element_text(const at::Tensor& tensor, int64_t linear);

/// The first differing element with 3 neighbours on each side along the last dim, a line for `got` and one
/// for `want`.
std::vector<std::string> neighbourhood(const Comparison& comparison, const at::Tensor& got,
                                       const at::Tensor& want);

/// "509 of 1542 elements differ, the first at [0, 0, 1]: got 0.4219, want -1.1328 (398 ulps)"
std::string difference_text(const Comparison& comparison, const at::Tensor& got, const at::Tensor& want);

}  // namespace opgate
