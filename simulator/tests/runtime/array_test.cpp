// Arrays of CUDA, and which textures and surfaces can be made. What kernels get of them is tested by
// fixtures/programs/textures.cu.
#include <numeric>
#include <vector>

#include "device_code.h"

// Functions that CUDA calls deprecated are tested, too.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

namespace simulated::array_test {
namespace {

constexpr cudaChannelFormatDesc kFloat{32, 0, 0, 0, cudaChannelFormatKindFloat};
constexpr cudaChannelFormatDesc kBytes{8, 8, 8, 8, cudaChannelFormatKindUnsigned};
constexpr std::size_t kRow = 8 * sizeof(float);

cudaArray_t new_array(const cudaChannelFormatDesc& format, unsigned flags = 0) {
  cudaArray_t array = nullptr;
  EXPECT_EQ(cudaMallocArray(&array, &format, 8, 4, flags), cudaSuccess);
  return array;
}

std::vector<float> counted(std::size_t count) {
  std::vector<float> values(count);
  std::iota(values.begin(), values.end(), 0.0f);
  return values;
}

TEST(CudaArrays, SayWhatTheyAre) {
  cudaChannelFormatDesc format{};
  cudaExtent extent{};
  unsigned flags = 0;
  const cudaArray_t array = new_array(kBytes, cudaArraySurfaceLoadStore);
  ASSERT_EQ(cudaArrayGetInfo(&format, &extent, &flags, array), cudaSuccess);
  EXPECT_EQ(format.w, 8);
  EXPECT_EQ(extent.width, 8U);
  EXPECT_EQ(extent.height, 4U);
  EXPECT_EQ(extent.depth, 0U);
  EXPECT_EQ(flags, unsigned{cudaArraySurfaceLoadStore});
  ASSERT_EQ(cudaFreeArray(array), cudaSuccess);
  EXPECT_EQ(cudaFreeArray(array), cudaErrorInvalidResourceHandle);
  cudaGetLastError();
}

TEST(CudaArrays, ArePartlyCopied) {
  const cudaArray_t array = new_array(kFloat);
  const std::vector<float> values = counted(32);
  ASSERT_EQ(cudaMemcpyToArray(array, 0, 0, values.data(), 32 * sizeof(float), cudaMemcpyDefault),
            cudaSuccess);
  const std::vector<float> two{-1, -2};
  ASSERT_EQ(cudaMemcpy2DToArray(array, 4, 2, two.data(), 4, 4, 2, cudaMemcpyHostToDevice), cudaSuccess);
  std::vector<float> rows(6);
  ASSERT_EQ(cudaMemcpy2DFromArray(rows.data(), 12, array, 0, 2, 12, 2, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(rows, (std::vector<float>{16, -1, 18, 24, -2, 26}));
  std::vector<float> behind(4);
  ASSERT_EQ(cudaMemcpyFromArray(behind.data(), array, 6 * sizeof(float), 0, 16, cudaMemcpyDefault),
            cudaSuccess);
  EXPECT_EQ(behind, (std::vector<float>{6, 7, 8, 9}));
  const cudaArray_t other = new_array(kFloat);
  ASSERT_EQ(cudaMemcpy2DArrayToArray(other, 0, 1, array, 0, 2, 12, 2, cudaMemcpyDeviceToDevice), cudaSuccess);
  ASSERT_EQ(cudaMemcpy2DFromArray(rows.data(), 12, other, 0, 1, 12, 2, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(rows, (std::vector<float>{16, -1, 18, 24, -2, 26}));
}

TEST(CudaArrays, RefuseWhatLiesBeyondTheirEnd) {
  const cudaArray_t array = new_array(kFloat);
  const std::vector<float> values = counted(32);
  EXPECT_EQ(cudaMemcpy2DToArray(array, 4, 0, values.data(), kRow, kRow, 1, cudaMemcpyHostToDevice),
            cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy2DToArray(array, 0, 3, values.data(), kRow, kRow, 2, cudaMemcpyHostToDevice),
            cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpyToArray(array, 4, 0, values.data(), 4 * kRow, cudaMemcpyDefault),
            cudaErrorInvalidValue);
  cudaGetLastError();
}

TEST(CudaArrays, RefuseFormatsThatCudaDoesNotHave) {
  cudaArray_t array = nullptr;
  for (const cudaChannelFormatDesc& format :
       {cudaChannelFormatDesc{32, 32, 32, 0, cudaChannelFormatKindFloat},
        cudaChannelFormatDesc{8, 0, 0, 0, cudaChannelFormatKindFloat},
        cudaChannelFormatDesc{8, 16, 0, 0, cudaChannelFormatKindSigned},
        cudaChannelFormatDesc{0, 0, 0, 0, cudaChannelFormatKindSigned}})
    EXPECT_EQ(cudaMallocArray(&array, &format, 8, 4, 0), cudaErrorInvalidChannelDescriptor);
  cudaGetLastError();
}

cudaError_t texture_of(const cudaResourceDesc& resource, cudaTextureFilterMode filter,
                       cudaTextureReadMode read = cudaReadModeElementType) {
  cudaTextureDesc texture{};
  texture.filterMode = filter;
  texture.readMode = read;
  cudaTextureObject_t object = 0;
  const cudaError_t status = cudaCreateTextureObject(&object, &resource, &texture, nullptr);
  if (status == cudaSuccess) {
    EXPECT_EQ(cudaDestroyTextureObject(object), cudaSuccess);
  }
  return status;
}

TEST(Textures, OfIntegersAreInterpolatedAsFractionsOnly) {
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = new_array(kBytes);
  EXPECT_EQ(texture_of(resource, cudaFilterModePoint), cudaSuccess);
  EXPECT_EQ(texture_of(resource, cudaFilterModeLinear), cudaErrorInvalidValue);
  EXPECT_EQ(texture_of(resource, cudaFilterModeLinear, cudaReadModeNormalizedFloat), cudaSuccess);
  cudaGetLastError();
}

TEST(Textures, OfMemoryBeginWhereDevicesReadThemWell) {
  float* const data = device_floats(1024, 0);
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear.devPtr = data;
  resource.res.linear.desc = kFloat;
  resource.res.linear.sizeInBytes = 1024;
  EXPECT_EQ(texture_of(resource, cudaFilterModePoint), cudaSuccess);
  resource.res.linear.devPtr = data + 4;
  EXPECT_EQ(texture_of(resource, cudaFilterModePoint), cudaErrorInvalidValue);
  resource.resType = cudaResourceTypePitch2D;
  resource.res.pitch2D = {data, kFloat, 8, 4, 40};
  EXPECT_EQ(texture_of(resource, cudaFilterModePoint), cudaErrorInvalidValue);
  resource.res.pitch2D.pitchInBytes = 64;
  EXPECT_EQ(texture_of(resource, cudaFilterModePoint), cudaSuccess);
  cudaGetLastError();
}

TEST(Surfaces, AreOfArraysThatWereMadeForThem) {
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = new_array(kFloat);
  cudaSurfaceObject_t object = 0;
  EXPECT_EQ(cudaCreateSurfaceObject(&object, &resource), cudaErrorInvalidValue);
  resource.res.array.array = new_array(kFloat, cudaArraySurfaceLoadStore);
  ASSERT_EQ(cudaCreateSurfaceObject(&object, &resource), cudaSuccess);
  cudaResourceDesc same{};
  ASSERT_EQ(cudaGetSurfaceObjectResourceDesc(&same, object), cudaSuccess);
  EXPECT_EQ(same.res.array.array, resource.res.array.array);
  EXPECT_EQ(cudaDestroySurfaceObject(object), cudaSuccess);
  EXPECT_EQ(cudaDestroySurfaceObject(object), cudaErrorInvalidValue);
  cudaGetLastError();
}

}  // namespace
}  // namespace simulated::array_test
