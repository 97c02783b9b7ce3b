// What is not simulated says so.
#include <cuda.h>

#include "device_code.h"

using namespace simulated;

TEST(Unsupported, AFunctionFailsAndSaysItsNameOnce) {
  ::testing::internal::CaptureStderr();
  cudaIpcMemHandle_t handle{};
  EXPECT_EQ(cudaIpcGetMemHandle(&handle, nullptr), cudaErrorNotSupported);
  EXPECT_EQ(cudaIpcGetMemHandle(&handle, nullptr), cudaErrorNotSupported);
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "opgate sim: cudaIpcGetMemHandle is not simulated\n");
  EXPECT_EQ(cudaGetLastError(), cudaErrorNotSupported);
}

TEST(Unsupported, FunctionsOfTheDriver) {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult status{};
  ASSERT_EQ(cudaGetDriverEntryPointByVersion("cuMemCreate", &function, 12000, 0, &status), cudaSuccess);
  EXPECT_EQ(status, cudaDriverEntryPointSuccess);
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(reinterpret_cast<CUresult (*)()>(function)(), CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "opgate sim: cuMemCreate is not simulated\n");
  ASSERT_EQ(cudaGetDriverEntryPointByVersion("cuNothing", &function, 12000, 0, &status), cudaSuccess);
  EXPECT_EQ(status, cudaDriverEntryPointSymbolNotFound);
  EXPECT_EQ(function, nullptr);
}
