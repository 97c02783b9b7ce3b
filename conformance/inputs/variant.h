// The variants of a sample: as it is written, in another memory layout, with other sizes, or damaged so
// that the operator must refuse it or answer it correctly. The variant is the fourth part of a call's id.
#pragma once

#include <c10/core/ScalarType.h>
#include <opgate/sample.h>

#include <string>
#include <vector>

#include "layouts/layout.h"

namespace opgate {

struct Spec;

struct Variant {
  enum class Kind {
    contiguous,  ///< every tensor is row-major in a storage of its own
    rearranged,  ///< the same sizes with other strides, storage offsets or storages
    resized,     ///< contiguous with other sizes: empty along a dim, or 0-dim
    bad,         ///< a bad input, or a sample that the spec says must be rejected
  };
  std::string text;  ///< "contiguous", "x=stepped", "all=stepped", "x+y=same", "size8=0", "bad:x.rank+1"
  Kind kind = Kind::contiguous;
  bool packaged = false;  ///< also goes into AOTInductor packages; all variants would make these too large
  /// Whether the variant is made when the call's dtype is `dtype`; null: for every dtype.
  bool (*accepts_dtype)(c10::ScalarType dtype) = nullptr;
  bool mixes_devices = false;  ///< one tensor is on the CPU, so that it is for accelerators only
};

/// Every variant of a sample: `contiguous` comes first, and no two have the same text. Models, classes and
/// samples that must be rejected have only `contiguous`.
///
/// A mutable argument never overlaps itself or another argument, because PyTorch refuses to write to such
/// tensors. With several tensors, a size changes in all of them at once: every dim of size 8 becomes empty.
/// The bad inputs that the engine makes come last.
std::vector<Variant> variants(const Spec& spec, const Sample& sample);

/// Whether calls of the subject are tried with tensors that are read in this way, as an argument or as a
/// cotangent. The dispatcher negates a tensor before a kernel gets it, unless the kernel says that it need
/// not. Nothing does that for a function, and hardly anyone passes it such a tensor.
bool is_tried(View view, const Spec& spec);

/// The argument that the variant changes: "x" for "x=stepped"; empty if it changes none, several, or a
/// size.
std::string_view varied_argument(std::string_view text);

/// The variant in words: "`x` is stepped", "every argument is stepped", "`x` and `y` lie in one storage".
std::string describe_variant(std::string_view text);

}  // namespace opgate
