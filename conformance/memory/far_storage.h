// A storage of more than 2^31 elements that costs hardly any memory: only the pages that are touched exist.
#pragma once

#include <ATen/core/Tensor.h>

#include "layouts/geometry.h"

namespace opgate {

/// A CPU tensor of this dtype and geometry over such a storage, untouched. An index that wraps around at 32
/// bits lands where nothing may be touched. Throws std::bad_alloc.
at::Tensor far_tensor(const Geometry& geometry, c10::ScalarType dtype);

/// A geometry of these sizes whose last element lies beyond 2^31 elements: along its first dim of more than
/// one element, or by its storage offset.
Geometry far_strided(c10::IntArrayRef sizes);
Geometry far_offset(c10::IntArrayRef sizes);

}  // namespace opgate
