// cuTensorMapEncodeTiled: which maps of tensors it makes, and which it refuses.
#include <cuda.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>

namespace {

struct WantedMap {
  CUtensorMapDataType type = CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
  unsigned rank = 2;
  std::uint64_t address = 0x1000;
  std::array<cuuint64_t, 2> sizes{100, 50};
  std::array<cuuint64_t, 1> strides{208};
  std::array<cuuint32_t, 2> box{64, 8};
  std::array<cuuint32_t, 2> steps{1, 1};
  CUtensorMapInterleave interleave = CU_TENSOR_MAP_INTERLEAVE_NONE;
  CUtensorMapSwizzle swizzle = CU_TENSOR_MAP_SWIZZLE_128B;
  CUtensorMapFloatOOBfill fill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE;

  CUresult encode() const {
    CUtensorMap map;
    return cuTensorMapEncodeTiled(&map, type, rank, reinterpret_cast<void*>(address), sizes.data(),
                                  strides.data(), box.data(), steps.data(), interleave, swizzle,
                                  CU_TENSOR_MAP_L2_PROMOTION_NONE, fill);
  }
};

TEST(SimulatedTensorMaps, AreMade) { EXPECT_EQ(WantedMap{}.encode(), CUDA_SUCCESS); }

TEST(SimulatedTensorMaps, ThatCudaRefuses) {
  EXPECT_EQ(WantedMap{.rank = 6}.encode(), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(WantedMap{.address = 0x1008}.encode(), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ((WantedMap{.sizes = {100, 0}}.encode()), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ((WantedMap{.strides = {200}}.encode()), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ((WantedMap{.box = {64, 257}}.encode()), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ((WantedMap{.box = {128, 8}}.encode()),
            CUDA_ERROR_INVALID_VALUE);  // a row is wider than the swizzling
  EXPECT_EQ((WantedMap{.box = {4, 8}}.encode()), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ((WantedMap{.steps = {9, 1}}.encode()), CUDA_ERROR_INVALID_VALUE);
}

TEST(SimulatedTensorMaps, ThatAreNotSimulated) {
  EXPECT_EQ(WantedMap{.type = CU_TENSOR_MAP_DATA_TYPE_TFLOAT32}.encode(), CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(WantedMap{.interleave = CU_TENSOR_MAP_INTERLEAVE_16B}.encode(), CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(WantedMap{.fill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA}.encode(),
            CUDA_ERROR_NOT_SUPPORTED);
}

}  // namespace
