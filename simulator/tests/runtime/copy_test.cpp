// Copies and fills.
#include <numeric>
#include <vector>

#include "device_code.h"

using namespace simulated;

TEST(SimulatedCopy, RowsWithPitches) {
  std::vector<float> source(12);
  std::iota(source.begin(), source.end(), 0.0F);
  float* data = nullptr;
  std::size_t pitch = 0;
  ASSERT_EQ(cudaMallocPitch(reinterpret_cast<void**>(&data), &pitch, 12, 3), cudaSuccess);
  EXPECT_EQ(pitch % 256, 0U);
  // The first three of each row of four.
  ASSERT_EQ(cudaMemcpy2D(data, pitch, source.data(), 16, 12, 3, cudaMemcpyHostToDevice), cudaSuccess);
  std::vector<float> result(9);
  ASSERT_EQ(cudaMemcpy2D(result.data(), 12, data, pitch, 12, 3, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(result, (std::vector<float>{0, 1, 2, 4, 5, 6, 8, 9, 10}));
  EXPECT_EQ(cudaMemcpy2D(result.data(), 8, data, pitch, 12, 3, cudaMemcpyDeviceToHost),
            cudaErrorInvalidPitchValue);
  cudaGetLastError();
}

TEST(SimulatedCopy, Boxes) {
  std::vector<unsigned char> source(2 * 3 * 4);
  std::iota(source.begin(), source.end(), static_cast<unsigned char>(0));
  cudaPitchedPtr box{};
  ASSERT_EQ(cudaMalloc3D(&box, cudaExtent{4, 3, 2}), cudaSuccess);
  cudaMemcpy3DParms parameters{};
  parameters.srcPtr = {source.data(), 4, 4, 3};
  parameters.dstPtr = box;
  parameters.extent = cudaExtent{4, 3, 2};
  parameters.kind = cudaMemcpyHostToDevice;
  ASSERT_EQ(cudaMemcpy3D(&parameters), cudaSuccess);
  std::vector<unsigned char> result(4);
  parameters = {};
  parameters.srcPtr = box;
  parameters.srcPos = cudaPos{2, 1, 1};
  parameters.dstPtr = {result.data(), 2, 2, 2};
  parameters.extent = cudaExtent{2, 2, 1};
  parameters.kind = cudaMemcpyDeviceToHost;
  ASSERT_EQ(cudaMemcpy3D(&parameters), cudaSuccess);
  EXPECT_EQ(result, (std::vector<unsigned char>{18, 19, 22, 23}));
}

TEST(SimulatedCopy, OutsideOfAnAllocationIsRefused) {
  float* const data = device_floats(4, 1);
  std::vector<float> host(8);
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(cudaMemcpy(data, host.data(), 20, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemset(data + 2, 0, 12), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemset(host.data(), 0, 4), cudaErrorInvalidValue);
  const std::string text = ::testing::internal::GetCapturedStderr();
  EXPECT_NE(
      text.find("opgate sim: the destination of a copy: past the end of an allocation of 16 bytes by 4"),
      std::string::npos);
  cudaGetLastError();
}

TEST(SimulatedCopy, TheDirectionMustBeRight) {
  float* const data = device_floats(4, 1);
  std::vector<float> host(4);
  EXPECT_EQ(cudaMemcpy(data, host.data(), 16, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy(host.data(), data, 16, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy(data, host.data(), 16, cudaMemcpyDefault), cudaSuccess);
  cudaGetLastError();
}

TEST(SimulatedCopy, BetweenDeviceMemoryTheHostDoesNotWait) {
  float* const pinned = pinned_floats(1, 0);
  float* const data = device_floats(1, 1);
  float* const other = device_floats(1, 2);
  store(pinned, 0, 1);
  ASSERT_EQ(cudaMemcpy(data, other, 4, cudaMemcpyDeviceToDevice), cudaSuccess);
  EXPECT_EQ(*pinned, 0);
  EXPECT_EQ(value_at(data), 2);
  EXPECT_EQ(*pinned, 1);
}

TEST(SimulatedCopy, FillsOfRows) {
  unsigned char* data = nullptr;
  ASSERT_EQ(cudaMalloc(reinterpret_cast<void**>(&data), 8), cudaSuccess);
  ASSERT_EQ(cudaMemset(data, 1, 8), cudaSuccess);
  ASSERT_EQ(cudaMemset2D(data, 4, 9, 2, 2), cudaSuccess);
  std::vector<unsigned char> result(8);
  ASSERT_EQ(cudaMemcpy(result.data(), data, 8, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(result, (std::vector<unsigned char>{9, 9, 1, 1, 9, 9, 1, 1}));
}
