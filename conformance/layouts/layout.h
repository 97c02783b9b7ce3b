// The ways in which one tensor argument can lie in memory. Each layout is one file beside this one, and
// registers itself. For given sizes it offers placements, or none if it does not apply.
#pragma once

#include <c10/core/ScalarType.h>

#include <optional>
#include <string_view>
#include <vector>

#include "base/registry.h"
#include "layouts/geometry.h"

namespace opgate {

/// How the stored values are read: as they are, conjugated (a lazy x.conj()) or negated (x.conj().imag).
enum class View { plain, conjugated, negated };

/// One concrete way to lay a tensor out. `name` is part of case ids: "stepped", "empty-dim0".
struct Placement {
  std::string name;
  Geometry geometry;
  View view = View::plain;
};

struct Layout {
  std::string_view name;
  std::string_view explanation;  ///< one line: what it looks like in PyTorch, and which mistake it finds
  void (*offer)(c10::IntArrayRef sizes, std::vector<Placement>& placements);
  /// True if the layout keeps the sizes and changes only strides and offset: results must equal those
  /// for contiguous input. Otherwise the values themselves change (empty, 0-dim), and the result is judged
  /// against the reference.
  bool same_sizes = true;
  /// The layout goes into AOTInductor packages too, which have room for a few layouts only.
  bool packaged = false;
  /// Tells which dtypes the layout is for; all where null.
  bool (*accepts_dtype)(c10::ScalarType dtype) = nullptr;
};

/// A placement and the layout that offers it.
struct OfferedPlacement {
  const Layout* layout;
  Placement placement;
};

/// Every placement of a tensor of these sizes, "contiguous" first.
std::vector<OfferedPlacement> placements(c10::IntArrayRef sizes);

/// The placement with this name; none if its layout does not apply to these sizes, or no layout offers it.
std::optional<OfferedPlacement> find_placement(c10::IntArrayRef sizes, std::string_view name);

inline constexpr std::string_view kContiguous = "contiguous";

}  // namespace opgate

#define OPGATE_REGISTER_LAYOUT(identifier, ...)                \
  [[maybe_unused]] static const bool identifier##_registered = \
      ::opgate::Registry<::opgate::Layout>::instance().add(__VA_ARGS__)
