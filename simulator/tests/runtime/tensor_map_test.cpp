// The driver's functions for maps of tensors: which they make, and which they refuse.
#include <cuda.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <utility>

namespace {

struct WantedMap {
  CUtensorMapDataType type = CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
  unsigned rank = 2;
  std::uint64_t address = 0x1000;
  std::array<cuuint64_t, 3> sizes{100, 50, 20};
  std::array<cuuint64_t, 2> strides{208, 10400};
  std::array<cuuint32_t, 3> box{64, 8, 1};
  std::array<cuuint32_t, 3> steps{1, 1, 1};
  CUtensorMapInterleave interleave = CU_TENSOR_MAP_INTERLEAVE_NONE;
  CUtensorMapSwizzle swizzle = CU_TENSOR_MAP_SWIZZLE_128B;
  CUtensorMapL2promotion promotion = CU_TENSOR_MAP_L2_PROMOTION_NONE;
  CUtensorMapFloatOOBfill fill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE;

  CUresult encode() const {
    CUtensorMap map;
    return encode_to(map);
  }

  CUresult encode_to(CUtensorMap& map) const {
    return cuTensorMapEncodeTiled(&map, type, rank, reinterpret_cast<void*>(address), sizes.data(),
                                  strides.data(), box.data(), steps.data(), interleave, swizzle, promotion,
                                  fill);
  }
};

TEST(SimulatedTensorMaps, AreMade) { EXPECT_EQ(WantedMap{}.encode(), CUDA_SUCCESS); }

TEST(SimulatedTensorMaps, ThatCudaRefuses) {
  EXPECT_EQ(WantedMap{.rank = 6}.encode(), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(WantedMap{.address = 0x1008}.encode(), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ((WantedMap{.sizes = {100, 0, 20}}.encode()), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ((WantedMap{.strides = {200, 10400}}.encode()), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ((WantedMap{.box = {64, 257, 1}}.encode()), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ((WantedMap{.box = {128, 8, 1}}.encode()),
            CUDA_ERROR_INVALID_VALUE);  // a row is wider than the swizzling
  EXPECT_EQ((WantedMap{.box = {4, 8, 1}}.encode()), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ((WantedMap{.steps = {9, 1, 1}}.encode()), CUDA_ERROR_INVALID_VALUE);
}

// What an H200's driver answers.
TEST(SimulatedTensorMaps, AtTheLimits) {
  EXPECT_EQ((WantedMap{.sizes = {100, 0x100000000, 20}}.encode()), CUDA_SUCCESS);
  EXPECT_EQ((WantedMap{.sizes = {100, 0x100000001, 20}}.encode()), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ((WantedMap{.strides = {0, 10400}}.encode()), CUDA_SUCCESS);
  EXPECT_EQ((WantedMap{.strides = {0xfffffffff0, 10400}}.encode()), CUDA_SUCCESS);
  EXPECT_EQ((WantedMap{.strides = {0x10000000000, 10400}}.encode()), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(WantedMap{.rank = 0}.encode(), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(WantedMap{.address = 0}.encode(), CUDA_SUCCESS);
  EXPECT_EQ((WantedMap{.rank = 1, .strides = {1, 1}}.encode()), CUDA_SUCCESS);
  EXPECT_EQ(WantedMap{.promotion = CU_TENSOR_MAP_L2_PROMOTION_L2_256B}.encode(), CUDA_SUCCESS);
  EXPECT_EQ(WantedMap{.promotion = static_cast<CUtensorMapL2promotion>(4)}.encode(),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(WantedMap{.swizzle = static_cast<CUtensorMapSwizzle>(4)}.encode(), CUDA_ERROR_INVALID_VALUE);
}

TEST(SimulatedTensorMaps, TypesAndTheirFilling) {
  constexpr auto kNaN = CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA;
  EXPECT_EQ(WantedMap{.fill = kNaN}.encode(), CUDA_SUCCESS);
  EXPECT_EQ(WantedMap{.fill = static_cast<CUtensorMapFloatOOBfill>(2)}.encode(), CUDA_ERROR_INVALID_VALUE);
  for (const auto type : {CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ, CU_TENSOR_MAP_DATA_TYPE_TFLOAT32,
                          CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ}) {
    EXPECT_EQ((WantedMap{.type = type, .box = {32, 8, 1}}.encode()), CUDA_SUCCESS);
    EXPECT_EQ((WantedMap{.type = type, .box = {32, 8, 1}, .fill = kNaN}.encode()), CUDA_SUCCESS);
  }
  EXPECT_EQ((WantedMap{.type = CU_TENSOR_MAP_DATA_TYPE_INT32, .box = {32, 8, 1}, .fill = kNaN}.encode()),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(WantedMap{.type = static_cast<CUtensorMapDataType>(13)}.encode(), CUDA_ERROR_INVALID_VALUE);
}

struct WantedPixels {
  unsigned rank = 4;
  std::array<int, 3> lower{-1, -1, -1};
  std::array<int, 3> upper{-1, -1, -1};
  cuuint32_t channels = 16;
  cuuint32_t pixels = 64;

  CUresult encode() const {
    static constexpr std::array<cuuint64_t, 5> kSizes{100, 50, 20, 10, 5};
    static constexpr std::array<cuuint64_t, 4> kStrides{224, 11200, 224000, 2240000};
    static constexpr std::array<cuuint32_t, 5> kSteps{1, 1, 1, 1, 1};
    CUtensorMap map;
    return cuTensorMapEncodeIm2col(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, rank,
                                   reinterpret_cast<void*>(0x1000), kSizes.data(), kStrides.data(),
                                   lower.data(), upper.data(), channels, pixels, kSteps.data(),
                                   CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
                                   CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  }
};

TEST(SimulatedTensorMaps, OfIm2col) {
  EXPECT_EQ(WantedPixels{}.encode(), CUDA_SUCCESS);
  EXPECT_EQ(WantedPixels{.rank = 2}.encode(), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(WantedPixels{.channels = 12}.encode(), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(WantedPixels{.pixels = 1024}.encode(), CUDA_SUCCESS);
  EXPECT_EQ(WantedPixels{.pixels = 1025}.encode(), CUDA_ERROR_INVALID_VALUE);
  for (const auto& [rank, most] : {std::pair{3u, 1 << 15}, {4u, 1 << 7}, {5u, 1 << 4}}) {
    EXPECT_EQ((WantedPixels{.rank = rank, .lower = {-most}}.encode()), CUDA_SUCCESS);
    EXPECT_EQ((WantedPixels{.rank = rank, .lower = {-most - 1}}.encode()), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ((WantedPixels{.rank = rank, .upper = {most - 1}}.encode()), CUDA_SUCCESS);
    EXPECT_EQ((WantedPixels{.rank = rank, .upper = {most}}.encode()), CUDA_ERROR_INVALID_VALUE);
  }
  // No pixel is left between the corners.
  EXPECT_EQ((WantedPixels{.lower = {127}, .upper = {0}}.encode()), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ((WantedPixels{.lower = {0}, .upper = {-128}}.encode()), CUDA_ERROR_INVALID_VALUE);
}

TEST(SimulatedTensorMaps, GetAnotherAddress) {
  CUtensorMap map;
  ASSERT_EQ(WantedMap{}.encode_to(map), CUDA_SUCCESS);
  for (const auto& [address, result] :
       {std::pair{0x2010, CUDA_SUCCESS}, {0x2008, CUDA_ERROR_INVALID_VALUE}, {0, CUDA_ERROR_INVALID_VALUE}})
    EXPECT_EQ(cuTensorMapReplaceAddress(&map, reinterpret_cast<void*>(address)), result);
  CUtensorMap wanted;
  ASSERT_EQ(WantedMap{.address = 0x2010}.encode_to(wanted), CUDA_SUCCESS);
  EXPECT_EQ(std::memcmp(&map, &wanted, sizeof(map)), 0);
}

TEST(SimulatedTensorMaps, OfInterleavedTensors) {
  WantedMap map{.swizzle = CU_TENSOR_MAP_SWIZZLE_32B};
  map.interleave = CU_TENSOR_MAP_INTERLEAVE_16B;
  EXPECT_EQ(map.encode(), CUDA_ERROR_INVALID_VALUE);  // two dimensions
  map.rank = 3;
  EXPECT_EQ(map.encode(), CUDA_SUCCESS);
  map.interleave = CU_TENSOR_MAP_INTERLEAVE_32B;
  EXPECT_EQ(map.encode(), CUDA_ERROR_INVALID_VALUE);  // strides of 208 bytes
  map.strides = {224, 11200};
  EXPECT_EQ(map.encode(), CUDA_SUCCESS);
  map.address = 0x1010;
  EXPECT_EQ(map.encode(), CUDA_ERROR_INVALID_VALUE);
}

// A card makes them, but none has shown what they do.
TEST(SimulatedTensorMaps, ThatAreNotSimulated) {
  WantedMap map{.rank = 3, .box = {64, 9, 1}, .swizzle = CU_TENSOR_MAP_SWIZZLE_32B};
  map.interleave = CU_TENSOR_MAP_INTERLEAVE_16B;
  EXPECT_EQ(map.encode(), CUDA_ERROR_NOT_SUPPORTED);
  map.box = {64, 8, 1};
  EXPECT_EQ(map.encode(), CUDA_SUCCESS);
  map.steps = {1, 2, 1};
  EXPECT_EQ(map.encode(), CUDA_ERROR_NOT_SUPPORTED);
}

TEST(SimulatedDriverErrors, HaveNamesOfTheDriver) {
  const char* name = nullptr;
  EXPECT_EQ(cuGetErrorName(CUDA_ERROR_ILLEGAL_ADDRESS, &name), CUDA_SUCCESS);
  EXPECT_STREQ(name, "CUDA_ERROR_ILLEGAL_ADDRESS");
  EXPECT_EQ(cuGetErrorName(static_cast<CUresult>(9), &name), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(name, nullptr);
  EXPECT_EQ(cuGetErrorString(static_cast<CUresult>(9), &name), CUDA_ERROR_INVALID_VALUE);
}

}  // namespace
