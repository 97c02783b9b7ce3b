// Prints which maps of tensors the driver makes and which it refuses, a line "name<TAB>value" each. ci/card
// compares the lines of a card with those of the simulated device. The argument is a group of facts, without
// which the names of the groups are printed.
#include <cuda.h>
#include <cuda_runtime.h>

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tensor_facts.h"

namespace {

using namespace tensor_facts;

// A map that the driver makes, of which each fact changes something.
struct Wanted {
  int type = CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
  unsigned rank = 3;
  std::uint64_t offset = 0;  // of the address
  std::vector<cuuint64_t> sizes{100, 50, 20, 10, 5, 2};
  std::vector<cuuint64_t> strides{224, 11200, 224000, 2240000, 11200000};
  std::vector<cuuint32_t> box{16, 8, 4, 2, 1, 1};
  std::vector<cuuint32_t> steps{1, 1, 1, 1, 1, 1};
  int interleave = CU_TENSOR_MAP_INTERLEAVE_NONE;
  int swizzle = CU_TENSOR_MAP_SWIZZLE_NONE;
  int promotion = CU_TENSOR_MAP_L2_PROMOTION_NONE;
  int fill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE;
};

enum class Missing { nothing, map, address, sizes, strides, box, steps };

std::string encoded(const Memory& memory, const Wanted& wanted, Missing missing = Missing::nothing) {
  static const auto encode = driver_function<decltype(cuTensorMapEncodeTiled)>("cuTensorMapEncodeTiled");
  if (encode == nullptr) return name_of(CUDA_ERROR_NOT_FOUND);
  const auto unless = [&](Missing which, auto* pointer) { return missing == which ? nullptr : pointer; };
  CUtensorMap map;
  return name_of(encode(
      unless(Missing::map, &map), static_cast<CUtensorMapDataType>(wanted.type), wanted.rank,
      unless(Missing::address, memory.tensor + wanted.offset), unless(Missing::sizes, wanted.sizes.data()),
      unless(Missing::strides, wanted.strides.data()), unless(Missing::box, wanted.box.data()),
      unless(Missing::steps, wanted.steps.data()), static_cast<CUtensorMapInterleave>(wanted.interleave),
      static_cast<CUtensorMapSwizzle>(wanted.swizzle), static_cast<CUtensorMapL2promotion>(wanted.promotion),
      static_cast<CUtensorMapFloatOOBfill>(wanted.fill)));
}

// Makes a change for each of the values.
template <class Value, class Change>
void print_each(const Memory& memory, const std::string& name, const std::vector<Value>& values,
                Change change) {
  for (const Value& value : values) {
    Wanted wanted;
    change(wanted, value);
    print(name + " " + std::to_string(value), encoded(memory, wanted));
  }
}

using Many = std::vector<std::uint64_t>;

void print_arguments(const Memory& memory) {
  print("as it is wanted", encoded(memory, {}));
  print_each(memory, "rank", Many{0, 1, 2, 3, 4, 5, 6},
             [](Wanted& wanted, auto rank) { wanted.rank = static_cast<unsigned>(rank); });
  print_each(memory, "address at", Many{1, 4, 8, 16, 32, 48, 64, 128},
             [](Wanted& wanted, auto offset) { wanted.offset = offset; });
  for (unsigned i = 0; i < 3; ++i) {
    const std::string dimension = " of dimension " + std::to_string(i);
    print_each(memory, "size" + dimension,
               Many{0, 1, 2, 15, 0x7fffffff, 0x80000000, 0xffffffff, 0x100000000, 0x100000001, 0x1000000000},
               [&](Wanted& wanted, auto size) { wanted.sizes[i] = size; });
    print_each(memory, "box" + dimension, Many{0, 1, 4, 7, 8, 12, 100, 128, 248, 255, 256, 257, 264, 65536},
               [&](Wanted& wanted, auto box) { wanted.box[i] = static_cast<cuuint32_t>(box); });
    print_each(memory, "step" + dimension, Many{0, 1, 2, 3, 7, 8, 9, 16, 256},
               [&](Wanted& wanted, auto step) { wanted.steps[i] = static_cast<cuuint32_t>(step); });
    if (i == 2) continue;
    print_each(memory, "stride" + dimension,
               Many{0, 1, 8, 16, 17, 24, 32, 208, 216, 240, 22400, 0xfffffffff0, 0x10000000000, 0x10000000010,
                    0x20000000000},
               [&](Wanted& wanted, auto stride) { wanted.strides[i] = stride; });
  }
  print("wrong after the rank",
        encoded(memory, {.rank = 1, .strides = {1}, .box = {16, 0}, .steps = {1, 9}}));
  print_each(memory, "promotion", Many{0, 1, 2, 3, 4, 99},
             [](Wanted& wanted, auto promotion) { wanted.promotion = static_cast<int>(promotion); });
  print_each(memory, "fill", Many{0, 1, 2, 99},
             [](Wanted& wanted, auto fill) { wanted.fill = static_cast<int>(fill); });
}

void print_missing(const Memory& memory) {
  for (const auto& [name, missing] : {std::pair{"map", Missing::map},
                                      {"address", Missing::address},
                                      {"sizes", Missing::sizes},
                                      {"strides", Missing::strides},
                                      {"box", Missing::box},
                                      {"steps", Missing::steps}})
    print(std::string("without ") + name, encoded(memory, {}, missing));
  print("rank 1 without strides", encoded(memory, {.rank = 1}, Missing::strides));
}

void print_types(const Memory& memory) {
  for (int type = 0; type <= 17; ++type) {
    for (const int fill : {0, 1}) {
      for (const cuuint32_t row : {4u, 8u, 16u, 128u}) {
        Wanted wanted{.type = type, .box = {row, 4, 2}, .fill = fill};
        wanted.sizes[0] = 128;
        wanted.strides = {1024, 51200};
        print("type " + std::to_string(type) + ", fill " + std::to_string(fill) + ", row of " +
                  std::to_string(row),
              encoded(memory, wanted));
      }
    }
  }
}

void print_modes(const Memory& memory) {
  for (const int interleave : {0, 1, 2, 3}) {
    for (const int swizzle : {0, 1, 2, 3, 4, 5, 6, 7}) {
      const std::string mode =
          "interleave " + std::to_string(interleave) + ", swizzle " + std::to_string(swizzle);
      for (const cuuint32_t row : {4u, 8u, 16u, 24u, 32u, 40u, 64u, 72u, 256u}) {
        Wanted wanted{.interleave = interleave, .swizzle = swizzle};
        wanted.box[0] = row;
        print(mode + ", row of " + std::to_string(2 * row) + " bytes", encoded(memory, wanted));
      }
      for (const unsigned rank : {1u, 2u, 5u})
        print(mode + ", rank " + std::to_string(rank),
              encoded(memory, {.rank = rank, .interleave = interleave, .swizzle = swizzle}));
      print(mode + ", address at 16",
            encoded(memory, {.offset = 16, .interleave = interleave, .swizzle = swizzle}));
      print(mode + ", stride of 208",
            encoded(memory, {.strides = {208, 11200}, .interleave = interleave, .swizzle = swizzle}));
      print(mode + ", steps of 2",
            encoded(memory, {.steps = {2, 2, 2}, .interleave = interleave, .swizzle = swizzle}));
    }
  }
}

struct WantedPixels {
  unsigned rank = 4;
  std::array<int, 3> lower{-1, -1, -1};
  std::array<int, 3> upper{-1, -1, -1};
  cuuint32_t channels = 16;
  cuuint32_t pixels = 64;
};

void print_im2col(const Memory& memory) {
  static const auto encode = driver_function<decltype(cuTensorMapEncodeIm2col)>("cuTensorMapEncodeIm2col");
  const auto print_one = [&](const std::string& name, const WantedPixels& wanted) {
    CUtensorMap map;
    const Wanted tensor;
    print("im2col, " + name,
          name_of(encode == nullptr
                      ? CUDA_ERROR_NOT_FOUND
                      : encode(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, wanted.rank, memory.tensor,
                               tensor.sizes.data(), tensor.strides.data(), wanted.lower.data(),
                               wanted.upper.data(), wanted.channels, wanted.pixels, tensor.steps.data(),
                               CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
                               CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE)));
  };
  for (unsigned rank = 0; rank <= 6; ++rank) print_one("rank " + std::to_string(rank), {.rank = rank});
  for (const cuuint32_t channels : {0u, 1u, 8u, 12u, 256u, 257u})
    print_one("channels " + std::to_string(channels), {.channels = channels});
  for (const cuuint32_t pixels : {0u, 1u, 256u, 1024u, 1025u})
    print_one("pixels " + std::to_string(pixels), {.pixels = pixels});
  for (unsigned rank = 3; rank <= 5; ++rank) {
    for (const int corner : {-32769, -32768, -129, -128, -17, -16, 0, 15, 16, 127, 128, 32767, 32768}) {
      const std::string name = " corner " + std::to_string(corner) + ", rank " + std::to_string(rank);
      print_one("lower" + name, {.rank = rank, .lower = {corner, 0, 0}, .upper = {0, 0, 0}});
      print_one("upper" + name, {.rank = rank, .lower = {0, 0, 0}, .upper = {corner, 0, 0}});
    }
  }
}

void print_replacements(const Memory& memory) {
  static const auto replace =
      driver_function<decltype(cuTensorMapReplaceAddress)>("cuTensorMapReplaceAddress");
  CUtensorMap map;
  const CUresult made = tensor_of(kU32, 2, 64).encode(map, memory.begin());
  if (made != CUDA_SUCCESS) return print("map", name_of(made));
  for (const unsigned offset : {0u, 1u, 8u, 16u, 128u}) {
    print("replace by the address at " + std::to_string(offset),
          name_of(replace == nullptr ? CUDA_ERROR_NOT_FOUND : replace(&map, memory.tensor + offset)));
  }
  if (replace != nullptr) print("replace by nothing", name_of(replace(&map, nullptr)));
}

void print_error_names(const Memory&) {
  const auto function = driver_function<decltype(cuGetErrorName)>("cuGetErrorName");
  for (int code = 0; code < 1000; ++code) {
    const char* name = nullptr;
    if (function != nullptr && function(static_cast<CUresult>(code), &name) == CUDA_SUCCESS)
      print("result " + std::to_string(code), name);
  }
}

const std::vector<Group> kGroups{Group{"encode", print_arguments},     Group{"encode_types", print_types},
                                 Group{"encode_modes", print_modes},   Group{"encode_im2col", print_im2col},
                                 Group{"replace", print_replacements}, Group{"missing", print_missing},
                                 Group{"names", print_error_names}};

}  // namespace

int main(int argc, char** argv) { return print_group(kGroups, argc, argv); }
