// Modules that a program loads through the driver while it runs, as Triton and NVRTC's users do.
#include <cuda.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>

#include <opgate_sim.h>
#include "device_code.h"
#include "ptxas/machine_code.h"

using namespace simulated;
namespace fs = std::filesystem;

namespace {

// data[i] += value for the first `count` threads, and a variable.
const std::string& ptx() {
  static const std::string text = R"(.version 8.0
.target sm_80
.address_size 64
.visible .global .align 4 .u32 counter = 7;
.visible .entry add(.param .u64 data, .param .f32 value, .param .u32 count) {
  .reg .pred %p<2>;
  .reg .f32 %f<4>;
  .reg .b32 %r<4>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [data];
  ld.param.f32 %f1, [value];
  ld.param.u32 %r1, [count];
  mov.u32 %r2, %tid.x;
  setp.ge.u32 %p1, %r2, %r1;
  @%p1 ret;
  mul.wide.u32 %rd2, %r2, 4;
  add.s64 %rd3, %rd1, %rd2;
  ld.global.f32 %f2, [%rd3];
  add.f32 %f3, %f2, %f1;
  st.global.f32 [%rd3], %f3;
  ret;
}
)";
  return text;
}

std::vector<float> host_floats(const float* data, std::size_t count) {
  std::vector<float> values(count);
  EXPECT_EQ(cudaMemcpy(values.data(), data, count * sizeof(float), cudaMemcpyDeviceToHost), cudaSuccess);
  return values;
}

struct LoadedModule {
  CUmodule module = nullptr;
  explicit LoadedModule(const void* image) { EXPECT_EQ(cuModuleLoadData(&module, image), CUDA_SUCCESS); }
  ~LoadedModule() { cuModuleUnload(module); }
  LoadedModule(const LoadedModule&) = delete;
  LoadedModule& operator=(const LoadedModule&) = delete;

  CUfunction function(const char* name = "add") const {
    CUfunction found = nullptr;
    EXPECT_EQ(cuModuleGetFunction(&found, module, name), CUDA_SUCCESS);
    return found;
  }
};

// What `add` makes of zeros with the value 2 in three threads of four.
void expect_adds(CUfunction function) {
  float* data = device_floats(4, 0);
  float value = 2;
  unsigned count = 3;
  std::vector<void*> arguments{&data, &value, &count};
  ASSERT_EQ(cuLaunchKernel(function, 1, 1, 1, 4, 1, 1, 0, nullptr, arguments.data(), nullptr), CUDA_SUCCESS);
  EXPECT_EQ(host_floats(data, 4), (std::vector<float>{2, 2, 2, 0}));
}

// Faults at the first float after the allocation.
void add_to_five_of_four(CUfunction function) {
  float* data = device_floats(4, 0);
  float value = 2;
  unsigned count = 5;
  std::vector<void*> arguments{&data, &value, &count};
  EXPECT_EQ(cuLaunchKernel(function, 1, 1, 1, 8, 1, 1, 0, nullptr, arguments.data(), nullptr), CUDA_SUCCESS);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
}

int attribute(CUfunction function, CUfunction_attribute which) {
  int value = -1;
  EXPECT_EQ(cuFuncGetAttribute(&value, which, function), CUDA_SUCCESS);
  return value;
}

}  // namespace

TEST(SimulatedModuleDeathTest, FindingsNameParametersWhoseNamesWereGiven) {
  EXPECT_IN_CHILD("byte 16 of argument 1 \\(`data`\\) of the launch, which points to 16 bytes", {
    const LoadedModule module(ptx().c_str());
    ASSERT_EQ(opgate_sim_name_parameters(module.function(), "data\nvalue"), cudaSuccess);
    add_to_five_of_four(module.function());
  });
}

TEST(SimulatedModule, IsLoadedFromTextThatIsFreedAfterwards) {
  auto text = std::make_unique<std::string>(ptx());
  const LoadedModule module(text->c_str());
  std::ranges::fill(*text, '?');
  text.reset();
  expect_adds(module.function());
}

TEST(SimulatedModule, IsLoadedFromAFatBinaryAndFromAFile) {
  const LoadedModule module(fat_binary(ptx(), 80).data());
  expect_adds(module.function());

  const fs::path file = fs::path(::testing::TempDir()) / "module.ptx";
  std::ofstream(file) << ptx();
  CUmodule of_file = nullptr;
  ASSERT_EQ(cuModuleLoad(&of_file, file.c_str()), CUDA_SUCCESS);
  CUfunction function = nullptr;
  ASSERT_EQ(cuModuleGetFunction(&function, of_file, "add"), CUDA_SUCCESS);
  expect_adds(function);
  EXPECT_EQ(cuModuleUnload(of_file), CUDA_SUCCESS);
  EXPECT_EQ(cuModuleLoad(&of_file, (file.string() + ".no").c_str()), CUDA_ERROR_FILE_NOT_FOUND);
}

TEST(SimulatedModule, IsLoadedFromMachineCodeThatKeepsItsPtx) {
  using namespace opgate::simulator;
  const std::string code = with_ptx(with_ptx(empty_machine_code(), "first"), "second");
  EXPECT_NE(code.find("first"), std::string::npos) << "a second section does not hide what was there";
  const LoadedModule module(with_ptx(empty_machine_code(), ptx()).c_str());
  expect_adds(module.function());
  const LoadedModule in_fat_binary(fat_binary(with_ptx(empty_machine_code(), ptx()), 90, 2).data());
  expect_adds(in_fat_binary.function());
}

TEST(SimulatedModule, IsRefusedWithoutPtx) {
  CUmodule module = nullptr;
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(cuModuleLoadData(&module, opgate::simulator::empty_machine_code().c_str()),
            CUDA_ERROR_NO_BINARY_FOR_GPU);
  EXPECT_EQ(cuModuleLoadData(&module, "no device code at all"), CUDA_ERROR_INVALID_IMAGE);
  EXPECT_EQ(cuModuleLoadData(&module, ".version 8.0\n.target sm_80\n.entry"), CUDA_ERROR_INVALID_PTX);
  EXPECT_EQ(cuModuleLoadData(nullptr, ptx().c_str()), CUDA_ERROR_INVALID_VALUE);
  const std::string told = ::testing::internal::GetCapturedStderr();
  EXPECT_NE(told.find("machine code without PTX"), std::string::npos) << told;
  EXPECT_NE(told.find("neither PTX, nor a fat binary, nor machine code"), std::string::npos) << told;
  EXPECT_EQ(cudaGetLastError(), cudaSuccess) << "the driver has no last error";
}

TEST(SimulatedModule, HasItsKernelsAndVariablesAlone) {
  const LoadedModule module(ptx().c_str());
  CUfunction function = nullptr;
  EXPECT_EQ(cuModuleGetFunction(&function, module.module, "no_such_kernel"), CUDA_ERROR_NOT_FOUND);
  EXPECT_EQ(cuModuleGetFunction(&function, reinterpret_cast<CUmodule>(&function), "add"),
            CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(module.function(), module.function()) << "a kernel has one handle";

  CUdeviceptr address = 0;
  std::size_t bytes = 0;
  ASSERT_EQ(cuModuleGetGlobal(&address, &bytes, module.module, "counter"), CUDA_SUCCESS);
  unsigned counter = 0;
  EXPECT_EQ(bytes, sizeof counter);
  EXPECT_EQ(cudaMemcpy(&counter, reinterpret_cast<void*>(address), bytes, cudaMemcpyDeviceToHost),
            cudaSuccess);
  EXPECT_EQ(counter, 7u);
  EXPECT_EQ(cuModuleGetGlobal(&address, &bytes, module.module, "nothing"), CUDA_ERROR_NOT_FOUND);
}

TEST(SimulatedModule, CanBeUnloadedWhileItsKernelsWait) {
  float* data = device_floats(4, 0);
  float value = 2;
  unsigned count = 4;
  std::vector<void*> arguments{&data, &value, &count};
  CUfunction function = nullptr;
  {
    const LoadedModule module(ptx().c_str());
    function = module.function();
    ASSERT_EQ(cuLaunchKernel(function, 1, 1, 1, 4, 1, 1, 0, nullptr, arguments.data(), nullptr),
              CUDA_SUCCESS);
  }
  EXPECT_EQ(host_floats(data, 4), (std::vector<float>{2, 2, 2, 2}));
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(cuLaunchKernel(function, 1, 1, 1, 4, 1, 1, 0, nullptr, arguments.data(), nullptr),
            CUDA_ERROR_INVALID_HANDLE);
  ::testing::internal::GetCapturedStderr();
}

TEST(SimulatedModule, TakesParametersInABuffer) {
  const LoadedModule module(ptx().c_str());
  struct {
    float* data;
    float value;
    unsigned count;
  } parameters{device_floats(4, 1), 3, 2};
  std::size_t bytes = sizeof parameters;
  std::vector<void*> extra{CU_LAUNCH_PARAM_BUFFER_POINTER, &parameters, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                           CU_LAUNCH_PARAM_END};
  ASSERT_EQ(cuLaunchKernel(module.function(), 1, 1, 1, 4, 1, 1, 0, nullptr, nullptr, extra.data()),
            CUDA_SUCCESS);
  EXPECT_EQ(host_floats(parameters.data, 4), (std::vector<float>{4, 4, 1, 1}));
}

TEST(SimulatedModule, HasTheAttributesOfItsKernels) {
  const LoadedModule module(ptx().c_str());
  const CUfunction function = module.function();
  EXPECT_EQ(attribute(function, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK), 1024);
  EXPECT_EQ(attribute(function, CU_FUNC_ATTRIBUTE_PTX_VERSION), 80);
  ASSERT_EQ(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 100 << 10),
            CUDA_SUCCESS);
  EXPECT_EQ(attribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES), 100 << 10);
  EXPECT_EQ(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 1 << 30),
            CUDA_ERROR_INVALID_VALUE);
  int blocks = 0;
  EXPECT_EQ(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, 1024, 0), CUDA_SUCCESS);
  EXPECT_EQ(blocks, 2);
  CUlaunchConfig config{};
  config.gridDimX = config.gridDimY = config.gridDimZ = 1;
  config.blockDimX = 1024;
  config.blockDimY = config.blockDimZ = 1;
  EXPECT_EQ(cuOccupancyMaxActiveClusters(&blocks, function, &config), CUDA_SUCCESS);
  EXPECT_EQ(blocks, 2 * 132);
  EXPECT_EQ(cuOccupancyMaxPotentialClusterSize(&blocks, function, &config), CUDA_SUCCESS);
  EXPECT_EQ(blocks, 8);
}

TEST(SimulatedModule, IsALibraryToo) {
  CUlibrary library = nullptr;
  ASSERT_EQ(cuLibraryLoadData(&library, ptx().c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0),
            CUDA_SUCCESS);
  CUkernel kernel = nullptr;
  ASSERT_EQ(cuLibraryGetKernel(&kernel, library, "add"), CUDA_SUCCESS);
  CUfunction function = nullptr;
  ASSERT_EQ(cuKernelGetFunction(&function, kernel), CUDA_SUCCESS);
  expect_adds(function);
  EXPECT_EQ(cuLibraryUnload(library), CUDA_SUCCESS);
}

TEST(SimulatedDriver, KnowsPointersAndTheCurrentDevice) {
  float* data = device_floats(1, 0);
  CUdeviceptr pointer = 0;
  ASSERT_EQ(cuPointerGetAttribute(&pointer, CU_POINTER_ATTRIBUTE_DEVICE_POINTER,
                                  reinterpret_cast<CUdeviceptr>(data)),
            CUDA_SUCCESS);
  EXPECT_EQ(pointer, reinterpret_cast<CUdeviceptr>(data));
  float of_host = 0;
  EXPECT_EQ(cuPointerGetAttribute(&pointer, CU_POINTER_ATTRIBUTE_DEVICE_POINTER,
                                  reinterpret_cast<CUdeviceptr>(&of_host)),
            CUDA_ERROR_INVALID_VALUE);
  ASSERT_EQ(cudaSetDevice(1), cudaSuccess);
  CUdevice device = -1;
  EXPECT_EQ(cuCtxGetDevice(&device), CUDA_SUCCESS);
  EXPECT_EQ(device, 1);
  ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
}
