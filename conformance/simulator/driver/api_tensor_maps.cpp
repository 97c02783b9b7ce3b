// The driver's function that makes a map of a tensor. Its 128 bytes are opaque, so that they need not be
// those of a GPU.
#include <cuda.h>

#include <cstring>
#include <optional>
#include <string>

#include "simulator/driver/driver_call.h"
#include "simulator/machine/tensor_map.h"

using namespace opgate::simulator;

namespace {

// None of a type whose numbers a copy changes, or that is smaller than a byte.
std::optional<Type> type_of(CUtensorMapDataType type) {
  switch (type) {
    case CU_TENSOR_MAP_DATA_TYPE_UINT8:
      return Type::u8;
    case CU_TENSOR_MAP_DATA_TYPE_UINT16:
      return Type::u16;
    case CU_TENSOR_MAP_DATA_TYPE_FLOAT16:
      return Type::f16;
    case CU_TENSOR_MAP_DATA_TYPE_BFLOAT16:
      return Type::bf16;
    case CU_TENSOR_MAP_DATA_TYPE_UINT32:
      return Type::u32;
    case CU_TENSOR_MAP_DATA_TYPE_INT32:
      return Type::s32;
    case CU_TENSOR_MAP_DATA_TYPE_FLOAT32:
      return Type::f32;
    case CU_TENSOR_MAP_DATA_TYPE_UINT64:
      return Type::u64;
    case CU_TENSOR_MAP_DATA_TYPE_INT64:
      return Type::s64;
    case CU_TENSOR_MAP_DATA_TYPE_FLOAT64:
      return Type::f64;
    default:
      return std::nullopt;
  }
}

unsigned row_bytes_of(CUtensorMapSwizzle swizzle) {
  switch (swizzle) {
    case CU_TENSOR_MAP_SWIZZLE_32B:
      return 32;
    case CU_TENSOR_MAP_SWIZZLE_64B:
      return 64;
    case CU_TENSOR_MAP_SWIZZLE_128B:
      return 128;
    default:
      return 0;
  }
}

void check(bool is_allowed) {
  if (!is_allowed) refuse(cudaErrorInvalidValue);
}

constexpr std::uint64_t kUnit = 16;
constexpr unsigned kMostOfBox = 256;
constexpr unsigned kMostStep = 8;

}  // namespace

OPGATE_SIM_DRIVER_API cuTensorMapEncodeTiled(CUtensorMap* result, CUtensorMapDataType type, cuuint32_t rank,
                                             void* address, const cuuint64_t* sizes,
                                             const cuuint64_t* strides, const cuuint32_t* box,
                                             const cuuint32_t* steps, CUtensorMapInterleave interleave,
                                             CUtensorMapSwizzle swizzle, CUtensorMapL2promotion,
                                             CUtensorMapFloatOOBfill fill) {
  return driver_answer([&](Simulator&) {
    check(result != nullptr && sizes != nullptr && box != nullptr && steps != nullptr && rank >= 1 &&
          rank <= TensorMap::kMostRank && (rank == 1 || strides != nullptr));
    const std::optional<Type> of_elements = type_of(type);
    if (!of_elements)
      refuse(cudaErrorNotSupported, "the type " + std::to_string(type) + " of a map of a tensor");
    if (interleave != CU_TENSOR_MAP_INTERLEAVE_NONE || fill != CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE)
      refuse(cudaErrorNotSupported, "a map of a tensor that is interleaved or filled with NaN");
    if (swizzle > CU_TENSOR_MAP_SWIZZLE_128B)
      refuse(cudaErrorNotSupported, "the swizzling " + std::to_string(swizzle) + " of a map of a tensor");
    TensorMap map;
    map.address = reinterpret_cast<std::uint64_t>(address);
    map.rank = static_cast<std::uint8_t>(rank);
    map.type = *of_elements;
    map.row_bytes = static_cast<std::uint8_t>(row_bytes_of(swizzle));
    map.mark = TensorMap::kMark;
    const std::uint32_t bytes_of_row = box[0] * map.element_bytes();
    check(map.address % kUnit == 0 && bytes_of_row % kUnit == 0);
    check(map.row_bytes == 0 || bytes_of_row <= map.row_bytes);
    for (std::size_t i = 0; i < rank; ++i) {
      check(sizes[i] >= 1 && sizes[i] < std::uint64_t{1} << 32 && box[i] >= 1 && box[i] <= kMostOfBox &&
            steps[i] >= 1 && steps[i] <= kMostStep);
      check(i == 0 || (strides[i - 1] % kUnit == 0 && strides[i - 1] < std::uint64_t{1} << 40));
      map.sizes[i] = static_cast<std::uint32_t>(sizes[i]);
      map.strides[i] = i == 0 ? 0 : strides[i - 1];
      map.box[i] = static_cast<std::uint16_t>(box[i]);
      map.steps[i] = static_cast<std::uint8_t>(steps[i]);
    }
    *result = {};
    std::memcpy(result, &map, sizeof(map));
  });
}
