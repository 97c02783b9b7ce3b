#include "base/dtypes.h"

#include <algorithm>
#include <array>
#include <utility>

namespace opgate {
namespace {

using Named = std::pair<c10::ScalarType, std::string_view>;

// Some dtypes are missing, because torch itself cannot copy or convert their tensors on the CPU, so that
// OpGate could not lay them out: the quantised dtypes (their tensors need a quantizer), the placeholder
// dtypes uint1 to uint7 and int1 to int7, and bcomplex32 (torch 2.15), which torch cannot conjugate.
constexpr std::array kNames{
    Named{c10::kByte, "uint8"},
    Named{c10::kChar, "int8"},
    Named{c10::kShort, "int16"},
    Named{c10::kInt, "int32"},
    Named{c10::kLong, "int64"},
    Named{c10::kUInt16, "uint16"},
    Named{c10::kUInt32, "uint32"},
    Named{c10::kUInt64, "uint64"},
    Named{c10::kBool, "bool"},
    Named{c10::kHalf, "float16"},
    Named{c10::kBFloat16, "bfloat16"},
    Named{c10::kFloat, "float32"},
    Named{c10::kDouble, "float64"},
    Named{c10::kComplexHalf, "complex32"},
    Named{c10::kComplexFloat, "complex64"},
    Named{c10::kComplexDouble, "complex128"},
    Named{c10::kFloat8_e5m2, "float8_e5m2"},
    Named{c10::kFloat8_e4m3fn, "float8_e4m3fn"},
    Named{c10::kFloat8_e5m2fnuz, "float8_e5m2fnuz"},
    Named{c10::kFloat8_e4m3fnuz, "float8_e4m3fnuz"},
    Named{c10::kFloat8_e8m0fnu, "float8_e8m0fnu"},
    Named{c10::kFloat4_e2m1fn_x2, "float4_e2m1fn_x2"},
    Named{c10::kBits1x8, "bits1x8"},
    Named{c10::kBits2x4, "bits2x4"},
    Named{c10::kBits4x2, "bits4x2"},
    Named{c10::kBits8, "bits8"},
    Named{c10::kBits16, "bits16"},
};

}  // namespace

Dtypes floating() { return {c10::kHalf, c10::kBFloat16, c10::kFloat, c10::kDouble}; }

Dtypes integral() { return {c10::kByte, c10::kChar, c10::kShort, c10::kInt, c10::kLong}; }

Dtypes every_dtype() {
  Dtypes all;
  for (const auto& [dtype, name] : kNames) all.push_back(dtype);
  return all;
}

std::string_view dtype_name(c10::ScalarType dtype) {
  const auto found = std::ranges::find(kNames, dtype, &Named::first);
  return found == kNames.end() ? std::string_view(c10::toString(dtype)) : found->second;
}

std::optional<c10::ScalarType> dtype_from_name(std::string_view name) {
  const auto found = std::ranges::find(kNames, name, &Named::second);
  if (found == kNames.end()) return std::nullopt;
  return found->first;
}

}  // namespace opgate
