// Maps of tensors: where the elements of a tensor lie in global memory, and how a box of them is copied to
// shared memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "simulator/ptx/types.h"

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
  static constexpr std::uint32_t kMark = 0x70414d54;

  std::uint64_t address = 0;
  std::array<std::uint64_t, kMostRank> strides{};  ///< in bytes; that of dimension 0 is not used
  std::array<std::uint32_t, kMostRank> sizes{};
  std::array<std::uint16_t, kMostRank> box{};
  std::array<std::uint8_t, kMostRank> steps{};  ///< every so many elements are copied
  std::uint8_t rank = 0;
  Type type = Type::none;      ///< of the elements
  std::uint8_t row_bytes = 0;  ///< of the swizzling: 32, 64 or 128; 0 without
  std::uint32_t mark = 0;      ///< shows that the bytes are a map

  std::uint32_t element_bytes() const { return static_cast<std::uint32_t>(bytes_of(type)); }

  /// Bytes of a box in shared memory, also of what lies outside of the tensor.
  std::uint32_t bytes_of_box() const;

  /// The pieces of the box that begins at these coordinates, at an address of the shared memory.
  std::vector<TensorPiece> pieces(std::span<const std::int32_t> begin, std::uint32_t shared) const;
};
static_assert(sizeof(TensorMap) <= TensorMap::kBytes);

}  // namespace opgate::simulator
