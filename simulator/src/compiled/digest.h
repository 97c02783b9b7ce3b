// SHA-256, by which compiled kernels are found again and checked.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace opgate::simulator {

using Digest = std::array<unsigned char, 32>;

Digest sha256(std::string_view data);

std::string in_hexadecimal(const Digest& digest);

}  // namespace opgate::simulator
