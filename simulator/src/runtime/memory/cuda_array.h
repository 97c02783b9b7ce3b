// Arrays of CUDA: images whose layout no program knows. Here, their rows and slices lie side by side.
#pragma once

#include <driver_types.h>

#include <cstddef>
#include <cstdint>

#include "machine/memory/texture.h"
#include "runtime/memory/copies.h"

namespace opgate::simulator {

struct CudaArray {
  Image image;
  cudaChannelFormatDesc format{};
  cudaExtent extent{};  ///< as it was asked for: 0 for dimensions that it does not have
  unsigned flags = 0;
  int device = 0;

  std::size_t slices() const { return image.is_layered ? image.layers : image.sizes[2]; }
  std::size_t bytes() const { return slices() * image.slice_pitch; }

  /// The side of a copy that begins so many bytes, rows and slices after the start. Refuses what lies
  /// outside.
  CopySide side(std::size_t x_bytes, std::size_t y, std::size_t z, const CopyShape& shape) const;
};

/// Elements of this format, without an address. Refuses formats that CUDA does not have, or that are not
/// simulated.
Image image_of(const cudaChannelFormatDesc& format);

}  // namespace opgate::simulator
