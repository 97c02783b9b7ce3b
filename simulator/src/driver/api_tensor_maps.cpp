// The driver's functions that make maps of tensors. Their 128 bytes are opaque, so that they need not be
// those of a GPU.
#include <cuda.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <optional>
#include <string>

#include "driver/driver_call.h"
#include "machine/memory/tensor_map.h"

using namespace opgate::simulator;

namespace {

constexpr std::uint64_t kUnit = 16;
constexpr std::uint64_t kMostSize = std::uint64_t{1} << 32;
constexpr std::uint64_t kStrideLimit = std::uint64_t{1} << 40;
constexpr unsigned kMostOfBox = 256;
constexpr unsigned kMostStep = 8;
constexpr unsigned kMostPixels = 1024;

void check(bool is_allowed) {
  if (!is_allowed) refuse(cudaErrorInvalidValue);
}

// In the order of CUtensorMapDataType, CUtensorMapSwizzle and CUtensorMapInterleave. An H200 refuses types
// that are smaller than a byte, too, which follow.
constexpr std::array kTypes{Type::u8,  Type::u16, Type::u32,  Type::s32, Type::u64,  Type::s64, Type::f16,
                            Type::f32, Type::f64, Type::bf16, Type::f32, Type::tf32, Type::tf32};
constexpr std::array<std::uint8_t, 4> kRowBytes{0, 32, 64, 128};
constexpr std::array<std::uint8_t, 3> kSliceBytes{0, 16, 32};
static_assert(kTypes.size() == CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ + 1);
static_assert(kRowBytes.size() == CU_TENSOR_MAP_SWIZZLE_128B + 1);
static_assert(kSliceBytes.size() == CU_TENSOR_MAP_INTERLEAVE_32B + 1);

template <class T, std::size_t size>
T known(const std::array<T, size>& values, int index) {
  check(index >= 0 && static_cast<std::size_t>(index) < size);
  return values[static_cast<std::size_t>(index)];
}

struct Modes {
  CUtensorMapInterleave interleave;
  CUtensorMapSwizzle swizzle;
  CUtensorMapL2promotion promotion;
  CUtensorMapFloatOOBfill fill;
};

TensorMap map_of(CUtensorMapDataType type, unsigned rank, unsigned least_rank, void* address,
                 const Modes& modes) {
  TensorMap map;
  map.mark = TensorMap::kMark;
  map.type = known(kTypes, type);
  map.flushes = type == CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ || type == CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ;
  map.slice_bytes = known(kSliceBytes, modes.interleave);
  map.row_bytes = known(kRowBytes, modes.swizzle);
  map.fills_with_nan = modes.fill == CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA;
  check(map.fills_with_nan ? type >= CU_TENSOR_MAP_DATA_TYPE_FLOAT16
                           : modes.fill == CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  check(modes.promotion >= CU_TENSOR_MAP_L2_PROMOTION_NONE &&
        modes.promotion <= CU_TENSOR_MAP_L2_PROMOTION_L2_256B);
  constexpr unsigned kLeastRankOfSlices = 3;
  check(rank >= (map.slice_bytes != 0 ? kLeastRankOfSlices : least_rank) && rank <= TensorMap::kMostRank);
  map.rank = static_cast<std::uint8_t>(rank);
  map.address = reinterpret_cast<std::uint64_t>(address);
  check(map.address % map.alignment() == 0);
  return map;
}

void set_extent(TensorMap& map, const cuuint64_t* sizes, const cuuint64_t* strides, const cuuint32_t* steps) {
  check(sizes != nullptr && strides != nullptr && steps != nullptr);
  for (std::size_t i = 0; i < map.rank; ++i) {
    check(sizes[i] >= 1 && sizes[i] <= kMostSize && steps[i] >= 1 && steps[i] <= kMostStep);
    // No coordinate reaches the last element of the largest size.
    map.sizes[i] = static_cast<std::uint32_t>(
        std::min<std::uint64_t>(sizes[i], std::numeric_limits<std::uint32_t>::max()));
    map.steps[i] = static_cast<std::uint8_t>(steps[i]);
    if (i == 0) continue;
    check(strides[i - 1] % map.alignment() == 0 && strides[i - 1] < kStrideLimit);
    map.strides[i] = strides[i - 1];
  }
}

void set_box(TensorMap& map, std::size_t dimension, cuuint32_t count) {
  check(count >= 1 && count <= kMostOfBox);
  map.box[dimension] = static_cast<std::uint16_t>(count);
  if (dimension != 0) return;
  const std::uint32_t bytes = count * map.element_bytes();
  check(bytes % kUnit == 0);
  check(map.row_bytes == 0 || map.slice_bytes != 0 || bytes <= map.row_bytes);
}

// What the driver makes, but no card has been asked about.
void require_known_slices(const TensorMap& map) {
  if (map.slice_bytes == 0) return;
  const bool is_one_slice =
      map.box[map.rank - std::size_t{2}] * map.element_bytes() <= map.slice_bytes && map.pixels == 0;
  const bool has_wide_rows = map.row_bytes <= 32 && map.box[0] * map.slice_bytes >= map.row_bytes;
  const bool has_steps = std::any_of(map.steps.begin(), map.steps.begin() + map.rank,
                                     [](std::uint8_t step) { return step != 1; });
  if (!is_one_slice || !has_wide_rows || has_steps || map.fills_with_nan || map.type == Type::tf32)
    refuse(
        cudaErrorNotSupported,
        "a map of an interleaved tensor for im2col, in steps, of several slices of channels, of tf32, filled "
        "with NaN, or with rows that differ from those of the swizzling");
}

void put(CUtensorMap* result, const TensorMap& map) {
  *result = {};
  std::memcpy(result, &map, sizeof(map));
}

}  // namespace

OPGATE_SIM_DRIVER_API cuTensorMapEncodeTiled(CUtensorMap* result, CUtensorMapDataType type, cuuint32_t rank,
                                             void* address, const cuuint64_t* sizes,
                                             const cuuint64_t* strides, const cuuint32_t* box,
                                             const cuuint32_t* steps, CUtensorMapInterleave interleave,
                                             CUtensorMapSwizzle swizzle, CUtensorMapL2promotion promotion,
                                             CUtensorMapFloatOOBfill fill) {
  return driver_answer([&](Simulator&) {
    check(result != nullptr && box != nullptr);
    TensorMap map = map_of(type, rank, /*least_rank=*/1, address, {interleave, swizzle, promotion, fill});
    set_extent(map, sizes, strides, steps);
    for (std::size_t i = 0; i < rank; ++i) set_box(map, i, box[i]);
    require_known_slices(map);
    put(result, map);
  });
}

OPGATE_SIM_DRIVER_API cuTensorMapEncodeIm2col(CUtensorMap* result, CUtensorMapDataType type, cuuint32_t rank,
                                              void* address, const cuuint64_t* sizes,
                                              const cuuint64_t* strides, const int* lower, const int* upper,
                                              cuuint32_t channels, cuuint32_t pixels, const cuuint32_t* steps,
                                              CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                              CUtensorMapL2promotion promotion,
                                              CUtensorMapFloatOOBfill fill) {
  return driver_answer([&](Simulator&) {
    constexpr unsigned kLeastRank = 3;
    check(result != nullptr && lower != nullptr && upper != nullptr);
    TensorMap map = map_of(type, rank, kLeastRank, address, {interleave, swizzle, promotion, fill});
    set_extent(map, sizes, strides, steps);
    set_box(map, 0, channels);
    check(pixels >= 1 && pixels <= kMostPixels);
    map.pixels = static_cast<std::uint16_t>(pixels);
    // The corners share bits of the map: the more of them, the smaller.
    constexpr std::array kMostCorner{1 << 15, 1 << 7, 1 << 4};
    const int most = kMostCorner[rank - kLeastRank];
    for (std::size_t i = 0; i + 2 < rank; ++i) {
      for (const int corner : {lower[i], upper[i]}) check(corner >= -most && corner < most);
      check(static_cast<std::int64_t>(sizes[i + 1]) + upper[i] > lower[i]);
      map.lower[i] = static_cast<std::int16_t>(lower[i]);
      map.upper[i] = static_cast<std::int16_t>(upper[i]);
    }
    require_known_slices(map);
    put(result, map);
  });
}

OPGATE_SIM_DRIVER_API cuTensorMapReplaceAddress(CUtensorMap* result, void* address) {
  return driver_answer([&](Simulator&) {
    check(result != nullptr && address != nullptr);
    std::array<unsigned char, TensorMap::kBytes> bytes{};
    std::memcpy(bytes.data(), result, bytes.size());
    TensorMap map;
    std::memcpy(&map, bytes.data(), sizeof(map));
    check(map.mark == TensorMap::kMark);
    map.address = reinterpret_cast<std::uint64_t>(address);
    check(map.address % map.alignment() == 0);
    put(result, map);
  });
}
