// Dtypes as text and as C++ types.
#pragma once

#include <c10/core/ScalarType.h>
#include <c10/util/Exception.h>
#include <opgate/dtypes.h>

#include <optional>
#include <string>
#include <string_view>

namespace opgate {

/// torch's Python name without the module: "float32", "bfloat16", "float8_e4m3fn".
std::string_view dtype_name(c10::ScalarType dtype);

/// The inverse of dtype_name.
std::optional<c10::ScalarType> dtype_from_name(std::string_view name);

/// The C++ type of a dtype that holds bits and no number to compute with: bits8, or two float4 in one byte.
template <class T>
concept Opaque = requires(T element) {
  element.val_;
};

/// Calls visitor.operator()<T>() with the C++ type of `dtype`; T is one that every_dtype() holds.
template <class Visitor>
decltype(auto) visit_dtype(c10::ScalarType dtype, Visitor&& visitor) {
  switch (dtype) {
#define OPGATE_CASE(name)     \
  case c10::ScalarType::name: \
    return visitor.template operator()<c10::impl::ScalarTypeToCPPTypeT<c10::ScalarType::name>>();
#define OPGATE_EACH_DTYPE(_)                                                                                 \
  _(Byte)                                                                                                    \
  _(Char)                                                                                                    \
  _(Short)                                                                                                   \
  _(Int)                                                                                                     \
  _(Long)                                                                                                    \
  _(UInt16) _(UInt32) _(UInt64) _(Bool) _(Half) _(BFloat16) _(Float) _(Double) _(ComplexHalf)                \
      _(ComplexFloat) _(ComplexDouble) _(Float8_e5m2) _(Float8_e4m3fn) _(Float8_e5m2fnuz) _(Float8_e4m3fnuz) \
          _(Float8_e8m0fnu) _(Float4_e2m1fn_x2) _(Bits1x8) _(Bits2x4) _(Bits4x2) _(Bits8) _(Bits16)
    OPGATE_EACH_DTYPE(OPGATE_CASE)
#undef OPGATE_CASE
    default:
      TORCH_CHECK(false, "OpGate makes no values of dtype ", dtype);
  }
}

}  // namespace opgate
