// How the simulator writes indices and addresses.
#pragma once

#include <array>
#include <charconv>
#include <cstdint>
#include <string>

namespace opgate::simulator {

/// Three sizes or indices, as in `dim3`.
struct Extent {
  unsigned x = 1;
  unsigned y = 1;
  unsigned z = 1;

  /// How many there are in all three dimensions.
  std::uint64_t count() const { return std::uint64_t{x} * y * z; }

  bool operator==(const Extent&) const = default;
};

/// "0x1f"
inline std::string hexadecimal(std::uint64_t value) {
  std::array<char, 16> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value, 16).ptr;
  return "0x" + std::string(digits.data(), end);
}

/// "(3, 0, 0)"
inline std::string in_words(const Extent& index) {
  return "(" + std::to_string(index.x) + ", " + std::to_string(index.y) + ", " + std::to_string(index.z) +
         ")";
}

/// "3,0,0"
inline std::string in_short(const Extent& index) {
  return std::to_string(index.x) + "," + std::to_string(index.y) + "," + std::to_string(index.z);
}

}  // namespace opgate::simulator
