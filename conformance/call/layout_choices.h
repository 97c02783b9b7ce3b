// In which layouts a sample can be run: the third part of a call's id.
#pragma once

#include <opgate/spec.h>

#include <string>
#include <vector>

#include "layouts/layout.h"

namespace opgate {

struct LayoutChoice {
  std::string text;  ///< "contiguous", or "x=stepped": one tensor argument laid out so, the others contiguous
  const Layout* layout;
};

/// Contiguous first, then each tensor argument in each placement that it can have. Sizes are changed only
/// where there is one tensor: with several, they must fit each other, which the spec's own samples say. A
/// mutable argument never overlaps itself: PyTorch writes to no such tensor. Models are run contiguous.
std::vector<LayoutChoice> layout_choices(const Spec& spec, const Sample& sample);

}  // namespace opgate
