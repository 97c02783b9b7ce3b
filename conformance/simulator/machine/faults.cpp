#include "simulator/machine/faults.h"

#include <array>
#include <charconv>

namespace opgate::simulator {

std::string hexadecimal(std::uint64_t value) {
  std::array<char, 16> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value, 16).ptr;
  return "0x" + std::string(digits.data(), end);
}

std::string in_words(const Extent& index) {
  return "(" + std::to_string(index.x) + ", " + std::to_string(index.y) + ", " + std::to_string(index.z) +
         ")";
}

std::string in_short(const Extent& index) {
  return std::to_string(index.x) + "," + std::to_string(index.y) + "," + std::to_string(index.z);
}

}  // namespace opgate::simulator
