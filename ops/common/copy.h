// What operators share that copy elements bit for bit, so that a NaN keeps its payload.
#pragma once

#include <c10/core/ScalarType.h>
#include <c10/macros/Macros.h>

#include <cstdint>

namespace opgate_ops {

/// Returns its argument: the function of an elementwise kernel that copies.
struct Same {
  template <typename T>
  C10_HOST_DEVICE T operator()(T value) const {
    return value;
  }
};

/// Calls copy(element) with an unsigned integer of the dtype's size, 1 to 8 bytes.
template <class Copy>
void with_element_of(at::ScalarType dtype, const Copy& copy) {
  switch (c10::elementSize(dtype)) {
    case 1:
      return copy(uint8_t{});
    case 2:
      return copy(uint16_t{});
    case 4:
      return copy(uint32_t{});
    default:
      return copy(uint64_t{});
  }
}

}  // namespace opgate_ops
