// What the programs share that print facts of copies of boxes of tensors: maps, places and digests.
#pragma once

#include <cuda.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

namespace tensor_facts {

inline constexpr unsigned kThreads = 128;
inline constexpr unsigned kSharedBytes = 8192;
inline constexpr size_t kMargin = size_t{64} << 10;  // of memory before and after the tensor
inline constexpr size_t kMemoryBytes = 3 * kMargin;

struct Job {
  int at[5] = {};
  unsigned rank = 0;
  unsigned bytes = 0;
  unsigned place = 0;             // in shared memory
  unsigned short offset[3] = {};  // of im2col
};

__device__ inline unsigned address_in_shared(const void* pointer) {
  return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

inline void print(const std::string& name, const std::string& value) {
  std::printf("%s\t%s\n", name.c_str(), value.c_str());
}

// FNV-1a.
inline std::string digest(const unsigned char* bytes, size_t count) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (size_t i = 0; i < count; ++i) hash = (hash ^ bytes[i]) * 0x100000001b3u;
  char text[17];
  std::snprintf(text, sizeof(text), "%016llx", static_cast<unsigned long long>(hash));
  return text;
}

template <class Function>
Function* driver_function(const char* name) {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult result{};
  cudaGetDriverEntryPointByVersion(name, &function, 12000, cudaEnableDefault, &result);
  return reinterpret_cast<Function*>(function);
}

inline std::string name_of(CUresult result) {
  if (result == CUDA_SUCCESS) return "CUDA_SUCCESS";
  if (result == CUDA_ERROR_INVALID_VALUE) return "CUDA_ERROR_INVALID_VALUE";
  if (result == CUDA_ERROR_NOT_FOUND) return "CUDA_ERROR_NOT_FOUND";
  if (result == CUDA_ERROR_NOT_SUPPORTED) return "CUDA_ERROR_NOT_SUPPORTED";
  return "CUresult " + std::to_string(result);
}

struct ElementType {
  const char* name;
  CUtensorMapDataType type;
  unsigned bytes;
};

inline constexpr ElementType kU8{"u8", CU_TENSOR_MAP_DATA_TYPE_UINT8, 1};
inline constexpr ElementType kU16{"u16", CU_TENSOR_MAP_DATA_TYPE_UINT16, 2};
inline constexpr ElementType kU32{"u32", CU_TENSOR_MAP_DATA_TYPE_UINT32, 4};
inline constexpr ElementType kS32{"s32", CU_TENSOR_MAP_DATA_TYPE_INT32, 4};
inline constexpr ElementType kU64{"u64", CU_TENSOR_MAP_DATA_TYPE_UINT64, 8};
inline constexpr ElementType kS64{"s64", CU_TENSOR_MAP_DATA_TYPE_INT64, 8};
inline constexpr ElementType kF16{"f16", CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2};
inline constexpr ElementType kBf16{"bf16", CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2};
inline constexpr ElementType kF32{"f32", CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 4};
inline constexpr ElementType kF64{"f64", CU_TENSOR_MAP_DATA_TYPE_FLOAT64, 8};
inline constexpr ElementType kF32Ftz{"f32.ftz", CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ, 4};
inline constexpr ElementType kTf32{"tf32", CU_TENSOR_MAP_DATA_TYPE_TFLOAT32, 4};
inline constexpr ElementType kTf32Ftz{"tf32.ftz", CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ, 4};
inline constexpr std::array kBySize{kU8, kU16, kU32, kU64};
inline constexpr std::array kAllTypes{kS32, kS64, kF16, kBf16, kF32, kF64, kF32Ftz, kTf32, kTf32Ftz};

struct Tensor {
  ElementType type = kU32;
  unsigned rank = 2;
  std::array<cuuint64_t, 5> sizes{};
  std::array<cuuint64_t, 4> strides{};
  std::array<cuuint32_t, 5> box{};
  std::array<cuuint32_t, 5> steps{1, 1, 1, 1, 1};
  CUtensorMapInterleave interleave = CU_TENSOR_MAP_INTERLEAVE_NONE;
  CUtensorMapSwizzle swizzle = CU_TENSOR_MAP_SWIZZLE_NONE;
  CUtensorMapFloatOOBfill fill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE;

  // Dimension 0 of the steps has no effect. An interleaved tensor has slices of channels instead of
  // elements, and the last dimension of its box but one counts channels.
  unsigned bytes() const {
    const unsigned slice = interleave == CU_TENSOR_MAP_INTERLEAVE_NONE  ? 0
                           : interleave == CU_TENSOR_MAP_INTERLEAVE_16B ? 16
                                                                        : 32;
    unsigned count = (slice != 0 ? slice : type.bytes) * box[0];
    for (unsigned i = 1; i < rank; ++i) {
      const unsigned step = slice != 0 && i == rank - 2 ? slice / type.bytes : steps[i];
      count *= (box[i] + step - 1) / step;
    }
    return count;
  }

  CUresult encode(CUtensorMap& map, void* address) const {
    static const auto function = driver_function<decltype(cuTensorMapEncodeTiled)>("cuTensorMapEncodeTiled");
    if (function == nullptr) return CUDA_ERROR_NOT_FOUND;
    return function(&map, type.type, rank, address, sizes.data(), strides.data(), box.data(), steps.data(),
                    interleave, swizzle, CU_TENSOR_MAP_L2_PROMOTION_NONE, fill);
  }
};

// With rows of `row_bytes` in the box, between which the tensor has a gap.
inline Tensor tensor_of(const ElementType& type, unsigned rank, unsigned row_bytes,
                        CUtensorMapSwizzle swizzle = CU_TENSOR_MAP_SWIZZLE_NONE) {
  static constexpr std::array<std::array<cuuint32_t, 4>, 6> kRows{
      {{}, {1, 1, 1, 1}, {8, 1, 1, 1}, {4, 3, 1, 1}, {3, 2, 2, 1}, {2, 2, 2, 2}}};
  Tensor tensor{.type = type, .rank = rank, .swizzle = swizzle};
  tensor.box[0] = row_bytes / type.bytes;
  tensor.sizes[0] = tensor.box[0] + tensor.box[0] / 2 + 3;
  tensor.strides[0] = (tensor.sizes[0] * type.bytes + 31) / 16 * 16;
  for (unsigned i = 1; i < rank; ++i) {
    tensor.box[i] = kRows[rank][i - 1];
    tensor.sizes[i] = tensor.box[i] + 2;
    if (i < 4) tensor.strides[i] = tensor.strides[i - 1] * tensor.sizes[i];
  }
  return tensor;
}

struct Place {
  const char* name;
  std::array<int, 5> at;
};

// A card refuses boxes that begin within these elements of a row.
inline int unit_of(const Tensor& tensor) { return 16 / static_cast<int>(tensor.type.bytes); }

inline std::array<int, 5> inside(const Tensor& tensor) { return {unit_of(tensor), 1, 2, 1, 0}; }

inline std::vector<Place> places_of(const Tensor& tensor) {
  std::array<int, 5> last{};
  for (size_t i = 0; i < last.size(); ++i) last[i] = static_cast<int>(tensor.sizes[i]);
  const int unit = unit_of(tensor);
  const int past = (last[0] - 1) / unit * unit;
  return {{"inside", inside(tensor)},
          {"before", {-unit, -1, -2, -1, -1}},
          {"past", {past, last[1] - 1, last[2] - 2, last[3] - 1, last[4] - 1}},
          {"before and past", {-2 * unit, last[1] - 3, -1, last[3] - 1, -1}},
          {"outside", {past + unit, 0, 0, 0, 0}},
          {"far outside", {-6250 * unit, 0x7fffffff, 100000, -1, 7}}};
}

inline Job job_of(const Tensor& tensor, const std::array<int, 5>& at) {
  Job job{.rank = tensor.rank, .bytes = tensor.bytes()};
  std::copy(at.begin(), at.end(), job.at);
  return job;
}

inline std::vector<unsigned char> any_bytes(size_t count, std::uint64_t seed) {
  std::vector<unsigned char> bytes(count);
  for (size_t i = 0; i < count; ++i)
    bytes[i] = static_cast<unsigned char>(((i + 1) * (seed * 2 + 0x9e3779b97f4a7c15u)) >> 37);
  return bytes;
}

struct Memory {
  unsigned char* tensor = nullptr;
  uint4* shared = nullptr;  // what is in the shared memory of two blocks

  void* begin() const { return tensor + kMargin; }
  void put(const std::vector<unsigned char>& bytes) const {
    cudaMemcpy(tensor, bytes.data(), bytes.size(), cudaMemcpyHostToDevice);
  }
};

inline constexpr size_t kShownBytes = kSharedBytes + 16;

// The error of a launch, or what `digest_of` says of the memory.
template <class DigestOf>
inline std::string after_launch(cudaError_t error, DigestOf digest_of) {
  if (error == cudaSuccess) error = cudaDeviceSynchronize();
  return error == cudaSuccess ? digest_of() : cudaGetErrorName(error);
}

struct Swizzle {
  CUtensorMapSwizzle mode;
  unsigned row_bytes;
};

inline constexpr std::array kSwizzles{
    Swizzle{CU_TENSOR_MAP_SWIZZLE_NONE, 64}, Swizzle{CU_TENSOR_MAP_SWIZZLE_32B, 32},
    Swizzle{CU_TENSOR_MAP_SWIZZLE_64B, 64}, Swizzle{CU_TENSOR_MAP_SWIZZLE_128B, 128}};

inline std::string text_of(const Tensor& tensor) {
  std::string text = std::string(tensor.type.name) + ", rank " + std::to_string(tensor.rank) + ", swizzle " +
                     std::to_string(tensor.swizzle);
  if (tensor.fill != CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) text += ", NaN";
  if (tensor.interleave != CU_TENSOR_MAP_INTERLEAVE_NONE)
    text += ", interleave " + std::to_string(tensor.interleave);
  return text;
}

struct Group {
  std::string name;
  std::function<void(const Memory&)> print;
};

inline int print_group(const std::vector<Group>& groups, int argc, char** argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, 4096);  // a crash loses nothing
  if (argc < 2) {
    for (const Group& group : groups) std::puts(group.name.c_str());
    return 0;
  }
  Memory memory;
  if (cudaMalloc(&memory.tensor, kMemoryBytes) != cudaSuccess ||
      cudaMalloc(&memory.shared, 2 * kShownBytes) != cudaSuccess) {
    std::puts("no device");
    return 4;
  }
  for (const Group& group : groups) {
    if (group.name == argv[1]) group.print(memory);
  }
  return 0;
}

}  // namespace tensor_facts
