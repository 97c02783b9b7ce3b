// The bytes that stand where an operator has nothing to look for.
#pragma once

#include <cstddef>

namespace opgate {

/// What each kind of memory holds. A result that differs between two runs whose poison differs was computed
/// from such memory.
struct Poison {
  std::byte gap;    ///< between a tensor's elements
  std::byte zone;   ///< before and after each block
  std::byte fresh;  ///< in a block that was just allocated
  std::byte freed;  ///< in a block that was given back

  bool operator==(const Poison&) const = default;
};

/// As a float 0xA5A5A5A5 is -2.9e-16, as an int32 -1515870811: neither zero nor plausible.
inline constexpr Poison kFirstPoison{std::byte{0xA5}, std::byte{0xA5}, std::byte{0xA5}, std::byte{0xA5}};

/// Another sign and another magnitude in every floating format: as a float 0.0115, as a half 1.06, as an
/// int32 1010580540. What a sum swallows of the one shows with the other.
inline constexpr Poison kSecondPoison{std::byte{0x3C}, std::byte{0x3C}, std::byte{0x3C}, std::byte{0x3C}};

/// The value of every byte in a gap before a call under kFirstPoison.
inline constexpr std::byte kGapByte = kFirstPoison.gap;

}  // namespace opgate
