// The bytes of a whole storage, gaps included, at one moment.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <vector>

namespace opgate {

using StorageImage = std::vector<std::byte>;

/// Copies the whole storage of `tensor`, from whatever device it is on.
StorageImage storage_image(const at::Tensor& tensor);

/// The value of every byte in a gap before the call. As a float it is -2.9e-16, as an int32 -1515870811: a
/// result that shows one of these was computed from a gap.
inline constexpr std::byte kGapByte{0xA5};

}  // namespace opgate
