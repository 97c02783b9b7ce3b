// A counter-based generator: the i-th value of a stream can be computed without the values before it, so
// every process, shard and language computes the same bits.
#pragma once

#include <cstdint>
#include <string_view>

namespace opgate {

/// SplitMix64's output function (Steele, Lea, Flood: "Fast splittable pseudorandom number generators",
/// 2014).
constexpr uint64_t mix64(uint64_t z) {
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  return z ^ (z >> 31);
}

/// The `counter`-th 64 bits of stream `key`: SplitMix64 seeded with `key`, with random access.
constexpr uint64_t bits_at(uint64_t key, uint64_t counter) {
  return mix64(key + (counter + 1) * 0x9E3779B97F4A7C15ull);
}

/// The stream named by a text such as "opgate_ops::identity_conv/2x3x257/x": FNV-1a, mixed.
constexpr uint64_t stream_key(std::string_view name) {
  uint64_t hash = 0xCBF29CE484222325ull;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3ull;
  return mix64(hash);
}

/// A double in [0, 1) made from the top 53 bits of bits_at(key, counter).
constexpr double unit_at(uint64_t key, uint64_t counter) {
  return static_cast<double>(bits_at(key, counter) >> 11) * 0x1p-53;
}

}  // namespace opgate
