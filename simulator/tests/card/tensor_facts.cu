// Prints what copies of boxes of tensors leave in shared memory, a line "name<TAB>value" each. ci/card
// compares the lines of a card with those of the simulated device. The argument is a group of facts, without
// which the names of the groups are printed.
#include <cuda.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "tensor_facts.h"

namespace {

using namespace tensor_facts;

constexpr unsigned kTries = 100000;

__device__ void begin(unsigned mbarrier) {
  if (threadIdx.x == 0) asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(mbarrier) : "memory");
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  asm volatile("fence.proxy.async;" ::: "memory");
  __syncthreads();
}

__device__ void expect(unsigned mbarrier, unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(mbarrier), "r"(bytes)
               : "memory");
}

__device__ bool is_complete_in_time(unsigned mbarrier) {
  for (unsigned i = 0; i < kTries; ++i) {
    unsigned is_complete;
    asm volatile(
        "{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0, %2; selp.u32 %0, 1, 0, p; }"
        : "=r"(is_complete)
        : "r"(mbarrier), "r"(1000)
        : "memory");
    if (is_complete != 0) return true;
  }
  return false;
}

// A statement may name fewer operands than it has.
#define LOAD(rank, mode, operands)                                                                  \
  asm volatile("cp.async.bulk.tensor." rank ".shared::cluster.global." mode                         \
               ".mbarrier::complete_tx::bytes [%0], [%1, {" operands ";" ::"r"(to),                 \
               "l"(map), "r"(mbarrier), "r"(at[0]), "r"(at[1]), "r"(at[2]), "r"(at[3]), "r"(at[4]), \
               "h"(offset[0]), "h"(offset[1]), "h"(offset[2])                                       \
               : "memory")

template <bool is_im2col>
__device__ void load_box(const CUtensorMap* map, const Job& job, unsigned to, unsigned mbarrier) {
  const int* const at = job.at;
  const unsigned short* const offset = job.offset;
  if constexpr (is_im2col) {
    if (job.rank == 3) LOAD("3d", "im2col", "%3, %4, %5}], [%2], {%8}");
    if (job.rank == 4) LOAD("4d", "im2col", "%3, %4, %5, %6}], [%2], {%8, %9}");
    if (job.rank == 5) LOAD("5d", "im2col", "%3, %4, %5, %6, %7}], [%2], {%8, %9, %10}");
  } else {
    if (job.rank == 1) LOAD("1d", "tile", "%3}], [%2]");
    if (job.rank == 2) LOAD("2d", "tile", "%3, %4}], [%2]");
    if (job.rank == 3) LOAD("3d", "tile", "%3, %4, %5}], [%2]");
    if (job.rank == 4) LOAD("4d", "tile", "%3, %4, %5, %6}], [%2]");
    if (job.rank == 5) LOAD("5d", "tile", "%3, %4, %5, %6, %7}], [%2]");
  }
}
#undef LOAD

// The last of `out` tells whether the copy was complete in time.
__device__ void show(const uint4* shared, uint4* out, bool is_complete) {
  __syncthreads();
  for (unsigned i = threadIdx.x; i < kSharedBytes / 16; i += kThreads) out[i] = shared[i];
  if (threadIdx.x == 0) out[kSharedBytes / 16].x = is_complete ? 1 : 0;
}

__device__ void fill(uint4* shared) {
  constexpr unsigned kBytes = 0xcccccccc;
  for (unsigned i = threadIdx.x; i < kSharedBytes / 16; i += kThreads)
    shared[i] = {kBytes, kBytes, kBytes, kBytes};
}

template <bool is_im2col>
__global__ void load(const __grid_constant__ CUtensorMap map, Job job, uint4* out) {
  __shared__ alignas(1024) uint4 shared[kSharedBytes / 16];
  __shared__ std::uint64_t barrier;
  const unsigned mbarrier = address_in_shared(&barrier);
  fill(shared);
  begin(mbarrier);
  bool is_complete = false;
  if (threadIdx.x == 0) {
    expect(mbarrier, job.bytes);
    load_box<is_im2col>(&map, job, address_in_shared(shared) + job.place, mbarrier);
    is_complete = is_complete_in_time(mbarrier);
  }
  show(shared, out, is_complete);
}

// Block 0 of the cluster copies for those of `mask`.
__global__ void load_for_blocks(const __grid_constant__ CUtensorMap map, Job job, unsigned short mask,
                                uint4* out) {
  __shared__ alignas(1024) uint4 shared[kSharedBytes / 16];
  __shared__ std::uint64_t barrier;
  const unsigned mbarrier = address_in_shared(&barrier);
  fill(shared);
  begin(mbarrier);
  if (threadIdx.x == 0) expect(mbarrier, job.bytes);
  asm volatile("barrier.cluster.arrive; barrier.cluster.wait;" ::: "memory");
  if (threadIdx.x == 0 && blockIdx.x == 0) {
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
        ".multicast::cluster [%0], [%1, {%3, %4}], [%2], %5;" ::"r"(address_in_shared(shared) + job.place),
        "l"(&map), "r"(mbarrier), "r"(job.at[0]), "r"(job.at[1]), "h"(mask)
        : "memory");
  }
  const bool is_meant = (mask >> blockIdx.x & 1) != 0;
  show(shared, out + blockIdx.x * (kSharedBytes / 16 + 1),
       threadIdx.x == 0 && (!is_meant || is_complete_in_time(mbarrier)));
  asm volatile("barrier.cluster.arrive; barrier.cluster.wait;" ::: "memory");
}

std::string digest_of_block(const Memory& memory, unsigned block) {
  std::vector<unsigned char> bytes(kShownBytes);
  cudaMemcpy(bytes.data(), memory.shared + block * (kShownBytes / 16), kShownBytes, cudaMemcpyDeviceToHost);
  return (bytes[kSharedBytes] != 0 ? "" : "no completion, ") + digest(bytes.data(), kSharedBytes);
}

void print_launched_load(const std::string& name, const Memory& memory, const CUtensorMap& map,
                         const Job& job) {
  load<false><<<1, kThreads>>>(map, job, memory.shared);
  print(name, after_launch(cudaGetLastError(), [&] { return digest_of_block(memory, 0); }));
}

void print_load(const std::string& name, const Memory& memory, const Tensor& tensor, const Job& job) {
  CUtensorMap map;
  const CUresult result = tensor.encode(map, memory.begin());
  if (result != CUDA_SUCCESS) return print(name, name_of(result));
  print_launched_load(name, memory, map, job);
}

void print_loads_of(const std::string& name, const Memory& memory, const Tensor& tensor) {
  for (const auto& [word, at] : places_of(tensor))
    print_load(name + ", " + text_of(tensor) + ", " + word, memory, tensor, job_of(tensor, at));
}

void print_loads(const Memory& memory) {
  memory.put(any_bytes(kMemoryBytes, 1));
  for (const auto& [swizzle, row_bytes] : kSwizzles) {
    for (const ElementType& type : kBySize) {
      for (unsigned rank = 1; rank <= 5; ++rank)
        print_loads_of("load", memory, tensor_of(type, rank, row_bytes, swizzle));
      const Tensor tensor = tensor_of(type, 2, row_bytes, swizzle);
      for (const unsigned place : {128u, 256u, 640u, 1024u}) {
        Job job = job_of(tensor, inside(tensor));
        job.place = place;
        print_load("load at " + std::to_string(place) + ", " + text_of(tensor), memory, tensor, job);
      }
    }
  }
  for (const unsigned elements : {16u, 256u})
    print_loads_of("load of " + std::to_string(elements), memory, tensor_of(kU64, 1, elements * 8));
}

// Rows that are narrower than the swizzling.
void print_narrow_loads(const Memory& memory) {
  memory.put(any_bytes(kMemoryBytes, 1));
  for (const auto& [swizzle, row_bytes] : kSwizzles) {
    for (const ElementType& type : kBySize) {
      if (row_bytes > 32) print_loads_of("load of 32 bytes", memory, tensor_of(type, 2, 32, swizzle));
      print_loads_of("load of 16 bytes", memory, tensor_of(type, 3, 16, swizzle));
    }
  }
}

void print_loads_in_steps(const Memory& memory) {
  using Steps = std::array<cuuint32_t, 5>;
  memory.put(any_bytes(kMemoryBytes, 1));
  const auto print_all = [&](const Steps& steps, const Swizzle& swizzle, unsigned rank) {
    std::string name = "load in steps of";
    for (unsigned i = 0; i < rank; ++i) name += " " + std::to_string(steps[i]);
    Tensor tensor = tensor_of(kU16, rank, swizzle.row_bytes, swizzle.mode);
    tensor.steps = steps;
    print_loads_of(name, memory, tensor);
  };
  for (const Swizzle& swizzle : kSwizzles) {
    for (const Steps& steps : {Steps{1, 2, 2, 2, 2}, {1, 3, 2, 3, 1}, {1, 1, 2, 1, 4}, {1, 8, 7, 6, 5}}) {
      for (unsigned rank = 2; rank <= 5; ++rank) print_all(steps, swizzle, rank);
    }
    for (const Steps& steps : {Steps{2, 1}, {3, 2}}) print_all(steps, swizzle, 2);
  }
}

void print_loads_of_types(const Memory& memory) {
  memory.put(any_bytes(kMemoryBytes, 1));
  for (const ElementType& type : kAllTypes) {
    Tensor tensor = tensor_of(type, 2, 64);
    print_loads_of("load", memory, tensor);
    tensor.fill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA;
    print_loads_of("load", memory, tensor);
    tensor.swizzle = CU_TENSOR_MAP_SWIZZLE_128B;
    print_loads_of("load", memory, tensor);
  }
}

void print_interleaved_loads(const Memory& memory) {
  memory.put(any_bytes(kMemoryBytes, 1));
  for (const auto& [swizzle, row_bytes] : {Swizzle{CU_TENSOR_MAP_SWIZZLE_NONE, 16},
                                           {CU_TENSOR_MAP_SWIZZLE_32B, 16},
                                           {CU_TENSOR_MAP_SWIZZLE_32B, 32}}) {
    for (unsigned rank = 3; rank <= 5; ++rank) {
      Tensor tensor = tensor_of(kU16, rank, row_bytes, swizzle);
      tensor.interleave = row_bytes == 16 ? CU_TENSOR_MAP_INTERLEAVE_16B : CU_TENSOR_MAP_INTERLEAVE_32B;
      for (cuuint64_t& stride : tensor.strides) stride = (stride + 31) / 32 * 32;
      print_loads_of("load", memory, tensor);
      tensor.box[rank - 2] = 20;
      print_load("load of 20 channels, " + text_of(tensor), memory, tensor, job_of(tensor, inside(tensor)));
    }
  }
}

// Numbers in the middle between two of tf32, NaN, infinities, subnormal numbers and the largest ones.
void print_rounded_numbers(const Memory& memory) {
  constexpr std::array<std::uint32_t, 20> kNumbers{
      0x3f801000, 0x3f803000, 0xbf801000, 0xbf803000, 0x3f800fff, 0x3f801001, 0x3fffffff,
      0x7f7fefff, 0x7f7ff000, 0x7f7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc00000,
      0xff800001, 0x7fb2e416, 0x00000001, 0x00001000, 0x80003000, 0x807fffff};
  std::vector<unsigned char> bytes(kMemoryBytes);
  std::memcpy(bytes.data() + kMargin, kNumbers.data(), sizeof(kNumbers));
  memory.put(bytes);
  for (const ElementType& type : {kF32, kF32Ftz, kTf32, kTf32Ftz}) {
    Tensor tensor = tensor_of(type, 1, sizeof(kNumbers));
    CUtensorMap map;
    if (const CUresult result = tensor.encode(map, memory.begin()); result != CUDA_SUCCESS) {
      print(type.name, name_of(result));
      continue;
    }
    load<false><<<1, kThreads>>>(map, job_of(tensor, {}), memory.shared);
    std::array<std::uint32_t, kNumbers.size()> loaded{};
    const cudaError_t error =
        cudaMemcpy(loaded.data(), memory.shared, sizeof(loaded), cudaMemcpyDeviceToHost);
    for (size_t i = 0; i < loaded.size(); ++i) {
      std::array<char, 40> text;
      std::snprintf(text.data(), text.size(), "%s of %08x", type.name, kNumbers[i]);
      const std::string name = text.data();
      std::snprintf(text.data(), text.size(), "%08x", loaded[i]);
      print(name, error == cudaSuccess ? text.data() : cudaGetErrorName(error));
    }
  }
}

void print_replaced_maps(const Memory& memory) {
  static const auto replace =
      driver_function<decltype(cuTensorMapReplaceAddress)>("cuTensorMapReplaceAddress");
  memory.put(any_bytes(kMemoryBytes, 1));
  for (const unsigned offset : {0u, 16u, 128u, 4096u}) {
    const Tensor tensor = tensor_of(kU32, 2, 128, CU_TENSOR_MAP_SWIZZLE_128B);
    CUtensorMap map;
    CUresult result = tensor.encode(map, memory.begin());
    if (result == CUDA_SUCCESS)
      result = replace == nullptr ? CUDA_ERROR_NOT_FOUND : replace(&map, memory.tensor + kMargin + offset);
    const std::string name = "load, address replaced by that at " + std::to_string(offset);
    if (result == CUDA_SUCCESS) {
      print_launched_load(name, memory, map, job_of(tensor, inside(tensor)));
    } else {
      print(name, name_of(result));
    }
  }
}

struct Pixels {
  std::array<int, 3> lower{};
  std::array<int, 3> upper{};
  cuuint32_t channels = 8;
  cuuint32_t count = 16;
};

void print_im2col_of(const std::string& name, const Memory& memory, const Tensor& tensor,
                     const Pixels& pixels, const Job& job) {
  static const auto encode = driver_function<decltype(cuTensorMapEncodeIm2col)>("cuTensorMapEncodeIm2col");
  CUtensorMap map;
  const CUresult result =
      encode == nullptr ? CUDA_ERROR_NOT_FOUND
                        : encode(&map, tensor.type.type, tensor.rank, memory.begin(), tensor.sizes.data(),
                                 tensor.strides.data(), pixels.lower.data(), pixels.upper.data(),
                                 pixels.channels, pixels.count, tensor.steps.data(), tensor.interleave,
                                 tensor.swizzle, CU_TENSOR_MAP_L2_PROMOTION_NONE, tensor.fill);
  if (result != CUDA_SUCCESS) return print(name, name_of(result));
  load<true><<<1, kThreads>>>(map, job, memory.shared);
  print(name, after_launch(cudaGetLastError(), [&] { return digest_of_block(memory, 0); }));
}

void print_im2col(const Memory& memory) {
  memory.put(any_bytes(kMemoryBytes, 1));
  for (const auto& [swizzle, row_bytes] : kSwizzles) {
    for (unsigned rank = 3; rank <= 5; ++rank) {
      for (const cuuint32_t step : {1u, 2u}) {
        Tensor tensor = tensor_of(kU16, rank, row_bytes, swizzle);
        tensor.sizes = {row_bytes, 5, rank > 3 ? 4u : 2u, rank > 4 ? 3u : 2u, 2};
        tensor.strides[0] = row_bytes * 2 + 16;
        for (size_t i = 1; i < 4; ++i) tensor.strides[i] = tensor.strides[i - 1] * tensor.sizes[i];
        for (size_t i = 1; i + 1 < rank; ++i) tensor.steps[i] = step;
        const Pixels pixels{.lower = {-1, -1, -1}, .upper = {-1, -1, -1}, .channels = row_bytes / 2};
        for (const auto& at : {std::array{0, -1, -1, -1, 0}, {8, 1, 0, 0, 0}, {0, 0, 1, 0, 1}}) {
          for (const unsigned short offset : {0, 1, 2}) {
            Job job = job_of(tensor, at);
            if (rank < 5) job.at[rank - 1] = at[4];  // the image
            job.bytes = row_bytes * pixels.count;
            std::fill_n(job.offset, 3, offset);
            job.offset[0] = offset / 2;
            std::string name = "im2col, " + text_of(tensor) + ", step " + std::to_string(step) + ", at";
            for (unsigned i = 0; i < rank; ++i) name += " " + std::to_string(job.at[i]);
            print_im2col_of(name + ", offset " + std::to_string(offset), memory, tensor, pixels, job);
          }
        }
      }
    }
  }
}

void print_multicasts(const Memory& memory) {
  memory.put(any_bytes(kMemoryBytes, 1));
  cudaLaunchAttribute attribute{.id = cudaLaunchAttributeClusterDimension};
  attribute.val.clusterDim = {2, 1, 1};
  cudaLaunchConfig_t config{.gridDim = 2, .blockDim = kThreads, .attrs = &attribute, .numAttrs = 1};
  for (const auto& [swizzle, row_bytes] : kSwizzles) {
    const Tensor tensor = tensor_of(kU16, 2, row_bytes, swizzle);
    CUtensorMap map;
    if (tensor.encode(map, memory.begin()) != CUDA_SUCCESS) continue;
    for (const auto& [word, at] : places_of(tensor)) {
      for (const unsigned short mask : {1, 2, 3}) {
        Job job = job_of(tensor, at);
        job.place = mask * 128;
        const cudaError_t error = cudaLaunchKernelEx(&config, load_for_blocks, map, job, mask, memory.shared);
        print("multicast to " + std::to_string(mask) + ", " + text_of(tensor) + ", " + word,
              after_launch(error,
                           [&] { return digest_of_block(memory, 0) + ", " + digest_of_block(memory, 1); }));
      }
    }
  }
}

// Alone in its process: the kernel fails, and nothing runs afterwards.
void print_load_within_a_unit(const Memory& memory) {
  const Tensor tensor = tensor_of(kU32, 2, 64);
  print_load("load from the second element of a row", memory, tensor, job_of(tensor, {1, 1}));
}

const std::vector<Group> kGroups{Group{"loads", print_loads},
                                 Group{"narrow", print_narrow_loads},
                                 Group{"steps", print_loads_in_steps},
                                 Group{"types", print_loads_of_types},
                                 Group{"rounded", print_rounded_numbers},
                                 Group{"replaced", print_replaced_maps},
                                 Group{"multicasts", print_multicasts},
                                 Group{"im2col", print_im2col},
                                 Group{"interleaved", print_interleaved_loads},
                                 Group{"within a unit", print_load_within_a_unit}};

}  // namespace

int main(int argc, char** argv) { return print_group(kGroups, argc, argv); }
