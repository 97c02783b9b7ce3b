// Where a matrix of `wgmma` lies in shared memory.
#pragma once

#include <array>
#include <cstdint>

namespace opgate::simulator {

/// 16 bytes, which lie side by side however the matrix is swizzled.
constexpr unsigned kMatrixUnit = 16;

/// The 64 bits that PTX calls a matrix descriptor: start, two offsets, and how rows of 32, 64 or 128 bytes
/// are swizzled. Eight rows make a pattern that repeats itself.
class MatrixDescriptor {
 public:
  explicit MatrixDescriptor(std::uint64_t bits)
      : start_(offset_at(bits, 0)),
        leading_(offset_at(bits, 16)),
        stride_(offset_at(bits, 32)),
        pattern_begin_(static_cast<std::uint32_t>(bits >> 49 & 7)),
        row_bytes_(kRowBytes[bits >> 62]) {}

  /// The address of a unit: its number along the side whose elements lie side by side, and the index across
  /// that side. `along_k`: that is the side `k`, over which products are added.
  std::uint32_t unit(unsigned along, unsigned across, bool along_k) const {
    const unsigned units = row_bytes_ / kMatrixUnit;
    // Without swizzling, the two offsets mean the other side each if the elements lie along `m` or `n`.
    const bool leading_is_along = along_k || units > 1;
    const std::uint32_t offset = across % 8 * row_bytes_ + along % units * kMatrixUnit +
                                 along / units * (leading_is_along ? leading_ : stride_) +
                                 across / 8 * (leading_is_along ? stride_ : leading_);
    const std::uint32_t address = start_ + offset;
    return address ^ (((address >> 7) - pattern_begin_) & (units - 1)) << 4;
  }

 private:
  // None, and then rows of 128, 64 and 32 bytes.
  static constexpr std::array<std::uint32_t, 4> kRowBytes{16, 128, 64, 32};

  static std::uint32_t offset_at(std::uint64_t bits, unsigned at) {
    return static_cast<std::uint32_t>(bits >> at & 0x3fff) << 4;
  }

  std::uint32_t start_;
  std::uint32_t leading_;
  std::uint32_t stride_;
  std::uint32_t pattern_begin_;  ///< at which of eight times 128 bytes a pattern begins
  std::uint32_t row_bytes_;
};

}  // namespace opgate::simulator
