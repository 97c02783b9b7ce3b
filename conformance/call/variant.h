// How one sample can be run: as it is written, laid out otherwise in memory, with other sizes, or damaged so
// that the operator must refuse it. A variant is the fourth part of a call's id.
#pragma once

#include <opgate/spec.h>

#include <optional>
#include <string>
#include <vector>

namespace opgate {

struct Variant {
  enum class Kind {
    contiguous,  ///< every tensor row-major in a storage of its own
    rearranged,  ///< the same sizes in other strides, offsets or storages
    resized,     ///< contiguous with other sizes: empty along a dim, 0-dim
    bad,         ///< what the operator must refuse
  };
  std::string text;  ///< "contiguous", "x=stepped", "all=stepped", "x+y=same", "size8=0", "bad:x.rank+1"
  Kind kind = Kind::contiguous;
  bool packaged = false;  ///< goes into AOTInductor packages too, whose size bounds how many they can hold
  bool (*suits)(c10::ScalarType dtype) = nullptr;  ///< the dtypes being swept that it is for; all where null
  std::optional<c10::DeviceType> device = {};      ///< only there
};

/// Every variant of a sample: contiguous first, no text twice. A sample that must be rejected, and models,
/// have only the first.
///
/// A mutable argument never overlaps itself or another argument: PyTorch writes to no such tensor. With
/// several tensors, sizes are changed alike in all of them: every dim that has size 8 becomes empty. The bad
/// inputs that the engine derives come last.
std::vector<Variant> variants(const Spec& spec, const Sample& sample);

/// The argument that the text lays out otherwise: "x" of "x=stepped"; empty where it is none, or several.
std::string_view varied_argument(std::string_view text);

/// The text in words: "`x` is stepped", "every argument is stepped", "`x` and `y` lie in one storage".
std::string describe_variant(std::string_view text);

}  // namespace opgate
