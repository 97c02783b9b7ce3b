// A storage of more than 2^31 or 2^32 elements that costs hardly any memory: only the pages that are touched
// exist.
#pragma once

#include <ATen/core/Tensor.h>

#include "layouts/geometry.h"

namespace opgate {

/// A CPU tensor of this dtype and geometry over such a storage; its elements are not written. An index that
/// wraps around at 32 bits lands in inaccessible memory. Throws std::bad_alloc.
at::Tensor far_tensor(const Geometry& geometry, c10::ScalarType dtype);

/// Geometries of these sizes whose last element lies beyond `elements` elements, such as 2^31. far_strided
/// gives the first dim with more than one element a large stride; far_offset, and far_strided where no dim
/// has more than one element, use a large storage offset.
Geometry far_strided(c10::IntArrayRef sizes, int64_t elements);
Geometry far_offset(c10::IntArrayRef sizes, int64_t elements);

}  // namespace opgate
