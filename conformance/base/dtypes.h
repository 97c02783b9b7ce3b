// Dtypes as text and as C++ types.
#pragma once

#include <c10/core/ScalarType.h>
#include <c10/util/Exception.h>
#include <opgate/dtypes.h>

#include <optional>
#include <string_view>
#include <type_traits>

namespace opgate {

/// The name in Python's torch, without the module: "float32", "bfloat16", "float8_e4m3fn".
std::string_view dtype_name(c10::ScalarType dtype);

/// The inverse of dtype_name; none for a name that OpGate does not know.
std::optional<c10::ScalarType> dtype_from_name(std::string_view name);

/// The C++ type of a dtype whose elements are bits and not numbers to C++: bits8, or two float4 in one
/// byte.
template <class T>
concept Opaque = requires(T element) {
  element.val_;
};

/// A C++ type that holds a floating-point number, real or complex.
template <class T>
concept FloatingElement = !std::is_integral_v<T> && !Opaque<T>;

/// Calls visitor.operator()<T>() with the C++ type T of `dtype`. Throws c10::Error for a dtype that is not
/// in every_dtype().
template <class Visitor>
decltype(auto) visit_dtype(c10::ScalarType dtype, Visitor&& visitor) {
  switch (dtype) {
#define OPGATE_CASE(name)     \
  case c10::ScalarType::name: \
    return visitor.template operator()<c10::impl::ScalarTypeToCPPTypeT<c10::ScalarType::name>>();
    OPGATE_CASE(Byte)
    OPGATE_CASE(Char)
    OPGATE_CASE(Short)
    OPGATE_CASE(Int)
    OPGATE_CASE(Long)
    OPGATE_CASE(UInt16)
    OPGATE_CASE(UInt32)
    OPGATE_CASE(UInt64)
    OPGATE_CASE(Bool)
    OPGATE_CASE(Half)
    OPGATE_CASE(BFloat16)
    OPGATE_CASE(Float)
    OPGATE_CASE(Double)
    OPGATE_CASE(ComplexHalf)
    OPGATE_CASE(ComplexFloat)
    OPGATE_CASE(ComplexDouble)
    OPGATE_CASE(Float8_e5m2)
    OPGATE_CASE(Float8_e4m3fn)
    OPGATE_CASE(Float8_e5m2fnuz)
    OPGATE_CASE(Float8_e4m3fnuz)
    OPGATE_CASE(Float8_e8m0fnu)
    OPGATE_CASE(Float4_e2m1fn_x2)
    OPGATE_CASE(Bits1x8)
    OPGATE_CASE(Bits2x4)
    OPGATE_CASE(Bits4x2)
    OPGATE_CASE(Bits8)
    OPGATE_CASE(Bits16)
#undef OPGATE_CASE
    default:
      TORCH_CHECK(false, "OpGate cannot make values of dtype ", dtype);
  }
}

}  // namespace opgate
