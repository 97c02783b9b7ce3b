// Decompression of what nvcc writes into fat binaries.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace opgate::simulator {

/// `bytes` is the size of the result. Both throw std::runtime_error on data that they cannot read.
std::string decompress_lz4(std::span<const unsigned char> data, std::size_t bytes);

/// Uses the system's libzstd.so.1, which is loaded when it is first needed.
std::string decompress_zstd(std::span<const unsigned char> data, std::size_t bytes);

}  // namespace opgate::simulator
