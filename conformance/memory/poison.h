// The bytes that fill memory that an operator must not depend on.
#pragma once

#include <cstddef>

namespace opgate {

/// The byte that fills each kind of memory. If a result differs between two runs with different poison, it
/// was computed from such memory.
struct Poison {
  std::byte gap;    ///< between a tensor's elements
  std::byte zone;   ///< before and after each block
  std::byte fresh;  ///< in a block that was just allocated
  std::byte freed;  ///< in a block that was given back

  bool operator==(const Poison&) const = default;
};

/// 0xA5A5A5A5 is -2.9e-16 as a float and -1515870811 as an int32, which is neither zero nor plausible.
inline constexpr Poison kFirstPoison{std::byte{0xA5}, std::byte{0xA5}, std::byte{0xA5}, std::byte{0xA5}};

/// Has another sign and another magnitude than the first in every floating format: 0.0115 as a float, 1.06
/// as a half, 1010580540 as an int32. If one of the two is too small to change a sum, the other one changes
/// it.
inline constexpr Poison kSecondPoison{std::byte{0x3C}, std::byte{0x3C}, std::byte{0x3C}, std::byte{0x3C}};

/// NaN in every floating format and -1 in every integer. What is multiplied by 0 shows under this poison
/// alone, because the other two are finite; but a comparison with NaN is false, so that they show what this
/// one hides.
inline constexpr Poison kNanPoison{std::byte{0xFF}, std::byte{0xFF}, std::byte{0xFF}, std::byte{0xFF}};

/// The byte in gaps between elements before a call under kFirstPoison.
inline constexpr std::byte kGapByte = kFirstPoison.gap;

}  // namespace opgate
