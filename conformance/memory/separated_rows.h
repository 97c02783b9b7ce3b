// A tensor that cannot be read as if it were dense without touching inaccessible memory.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <optional>

namespace opgate {

struct SeparatedRows {
  at::Tensor tensor;  ///< on the CPU; owns the memory
  std::byte* begin;   ///< of the memory: a page before the first row
  size_t bytes;
};

/// The values of `values`, a dense tensor on the CPU. Each row along the first dim of size 2 or more is on
/// pages of its own: it ends where an inaccessible page begins. The storage begins with such a page, so that
/// there is a storage offset. None if no dim has two elements, or there are more than 256 rows. Throws
/// std::bad_alloc.
std::optional<SeparatedRows> separate_rows(const at::Tensor& values);

}  // namespace opgate
