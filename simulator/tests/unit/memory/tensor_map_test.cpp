// Where maps put the elements of a tensor, against what an H200 left in shared memory: digests of
// tests/card/tensor_facts.cu, whose tensors and bytes these are.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <vector>

#include "machine/memory/tensor_map.h"

namespace opgate::simulator::tests {
namespace tensor_map_test {

constexpr std::size_t kMargin = std::size_t{64} << 10;

const std::vector<unsigned char>& memory() {
  static const std::vector<unsigned char> bytes = [] {
    std::vector<unsigned char> all(3 * kMargin);
    for (std::size_t i = 0; i < all.size(); ++i)
      all[i] = static_cast<unsigned char>(((i + 1) * 0x9e3779b97f4a7c17u) >> 37);
    return all;
  }();
  return bytes;
}

// FNV-1a.
std::uint64_t digest_of_load(const TensorMap& map, std::initializer_list<std::int32_t> at,
                             std::initializer_list<std::uint16_t> offsets = {}) {
  std::vector<unsigned char> shared(8192, 0xcc);
  std::array<std::int32_t, TensorMap::kMostRank> begin{};
  std::copy(at.begin(), at.end(), begin.begin());
  std::uint32_t bytes = 0;
  for (const TensorPiece& piece : map.pieces(begin, 0, std::vector<std::uint16_t>(offsets))) {
    bytes += piece.bytes;
    for (std::uint32_t i = 0; i < piece.bytes; ++i)
      shared.at(piece.shared + i) = piece.global ? memory().at(*piece.global + i) : 0;
  }
  EXPECT_EQ(bytes, map.bytes_of_box());
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const unsigned char byte : shared) hash = (hash ^ byte) * 0x100000001b3u;
  return hash;
}

TensorMap map_of(Type type, std::uint8_t rank, std::uint8_t row_bytes) {
  TensorMap map;
  map.address = kMargin;
  map.type = type;
  map.rank = rank;
  map.row_bytes = row_bytes;
  map.steps.fill(1);
  return map;
}

TEST(SimulatedTensorMaps, RowsThatAreNarrowerThanTheSwizzling) {
  TensorMap map = map_of(Type::u32, 3, 32);
  map.sizes = {9, 6, 5};
  map.strides = {0, 64, 384};
  map.box = {4, 4, 3};
  EXPECT_EQ(digest_of_load(map, {8, 5, 3}), 0x988c0813ceaa2e71u);
  map = map_of(Type::u16, 2, 128);
  map.sizes = {27, 10};
  map.strides = {0, 80};
  map.box = {16, 8};
  EXPECT_EQ(digest_of_load(map, {8, 1}), 0xb8b6b08afa56ce1cu);
  map.row_bytes = 64;
  EXPECT_EQ(digest_of_load(map, {-16, 7}), 0xdcf13d092081a725u);
}

TEST(SimulatedTensorMaps, StepsOfDimension0HaveNoEffect) {
  TensorMap map = map_of(Type::u16, 2, 0);
  map.sizes = {51, 10};
  map.strides = {0, 128};
  map.box = {32, 8};
  map.steps = {2, 1};
  EXPECT_EQ(digest_of_load(map, {8, 1}), 0xa5a3a704feefc917u);
  map.steps = {3, 2};
  EXPECT_EQ(digest_of_load(map, {8, 1}), 0x70ec0ed615b4fae7u);
}

TEST(SimulatedTensorMaps, PixelsOfIm2col) {
  TensorMap map = map_of(Type::u16, 4, 64);
  map.sizes = {64, 5, 4, 2};
  map.strides = {0, 144, 720, 2880};
  map.box = {32};
  map.pixels = 16;
  map.lower = {-1, -1};
  map.upper = {-1, -1};
  EXPECT_EQ(digest_of_load(map, {0, -1, -1, 0}, {0, 0}), 0x865a299ba9e8c7a0u);
  EXPECT_EQ(digest_of_load(map, {0, -1, -1, 0}, {1, 2}), 0xf2f3eb4a1ab8386bu);
  EXPECT_EQ(digest_of_load(map, {8, 1, 0, 0}, {0, 1}), 0x5c580ac69d06cdd2u);
  EXPECT_EQ(digest_of_load(map, {0, 0, 1, 1}, {0, 1}), 0x16ed120540113012u);
}

TEST(SimulatedTensorMaps, InterleavedTensors) {
  TensorMap map = map_of(Type::u16, 3, 32);
  map.slice_bytes = 16;
  map.sizes = {15, 6, 5};
  map.strides = {0, 64, 288};
  map.box = {8, 4, 3};
  EXPECT_EQ(digest_of_load(map, {8, 1, 2}), 0x06117e6de2d8a76eu);
  map = map_of(Type::u16, 5, 32);
  map.slice_bytes = 32;
  map.sizes = {27, 4, 4, 4, 4};
  map.strides = {0, 96, 320, 1280, 5120};
  map.box = {16, 2, 2, 2, 2};
  EXPECT_EQ(digest_of_load(map, {8, 1, 2, 1, 0}), 0x72ca7dbcd2d86b9fu);
  EXPECT_EQ(digest_of_load(map, {24, 3, 2, 3, 3}), 0x99909840f8fab977u);
}

}  // namespace tensor_map_test
}  // namespace opgate::simulator::tests
