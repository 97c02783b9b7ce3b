// Maps of tensors: where the elements of a tensor lie in global memory, and how a box of them is copied to
// shared memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "ptx/types.h"

namespace opgate::simulator {

/// A part of a box that lies side by side in both memories. At most 16 bytes, and aligned to their number.
struct TensorPiece {
  std::uint32_t shared = 0;             ///< address
  std::optional<std::uint64_t> global;  ///< none: outside of the tensor
  std::uint32_t bytes = 0;
};

/// The contents of the 128 opaque bytes, from which CUDA's functions and the instructions make and read it.
/// Dimension 0 is the one whose elements lie side by side.
struct TensorMap {
  static constexpr std::size_t kBytes = 128;
  static constexpr std::size_t kMostRank = 5;
  static constexpr std::size_t kMostPixelDimensions = kMostRank - 2;
  static constexpr std::uint32_t kMark = 0x70414d54;

  std::uint64_t address = 0;
  std::array<std::uint64_t, kMostRank> strides{};  ///< in bytes; that of dimension 0 is not used
  std::array<std::uint32_t, kMostRank> sizes{};
  std::array<std::uint16_t, kMostRank> box{};
  std::array<std::uint8_t, kMostRank> steps{};  ///< every so many are copied; that of dimension 0 is not used
  std::uint8_t rank = 0;
  Type type = Type::none;        ///< of the elements; loads round numbers to tf32
  bool flushes = false;          ///< .ftz, of which loads show nothing
  bool fills_with_nan = false;   ///< outside of the tensor, where otherwise zeros are
  std::uint8_t row_bytes = 0;    ///< of the swizzling: 32, 64 or 128; 0 without
  std::uint8_t slice_bytes = 0;  ///< of an interleaved tensor: 16 or 32; 0 for others
  std::uint16_t pixels = 0;      ///< that im2col copies; 0: boxes are copied
  /// The first pixel that im2col visits in a row, and what is added to the size of the dimension for the end.
  std::array<std::int16_t, kMostPixelDimensions> lower{};
  std::array<std::int16_t, kMostPixelDimensions> upper{};
  std::uint32_t mark = 0;  ///< shows that the bytes are a map

  std::uint32_t element_bytes() const { return static_cast<std::uint32_t>(bytes_of(type)); }

  /// What the driver demands of addresses and strides.
  std::uint32_t alignment() const { return slice_bytes == 32 ? 32 : 16; }

  /// Bytes of a box, also of what lies outside of the tensor.
  std::uint32_t bytes_of_box() const;

  /// The pieces of the box that begins at these coordinates, at an address of the shared memory. For im2col,
  /// the coordinates are those of the first pixel, and the offsets are added to those of each.
  std::vector<TensorPiece> pieces(std::span<const std::int32_t> begin, std::uint32_t shared,
                                  std::span<const std::uint16_t> offsets = {}) const;
};
static_assert(sizeof(TensorMap) <= TensorMap::kBytes);

}  // namespace opgate::simulator
