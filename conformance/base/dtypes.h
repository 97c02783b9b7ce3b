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

/// Calls visitor.operator()<T>() with the C++ type of `dtype`; T is one that every_dtype() holds.
template <class Visitor>
decltype(auto) visit_dtype(c10::ScalarType dtype, Visitor&& visitor) {
  switch (dtype) {
#define OPGATE_CASE(name)     \
  case c10::ScalarType::name: \
    return visitor.template operator()<c10::impl::ScalarTypeToCPPTypeT<c10::ScalarType::name>>();
#define OPGATE_EACH_DTYPE(_)                                                                          \
  _(Byte)                                                                                             \
  _(Char)                                                                                             \
  _(Short)                                                                                            \
  _(Int)                                                                                              \
  _(Long)                                                                                             \
  _(Half)                                                                                             \
  _(Float)                                                                                            \
  _(Double)                                                                                           \
  _(ComplexFloat)                                                                                     \
  _(ComplexDouble)                                                                                    \
  _(Bool) _(BFloat16) _(Float8_e5m2) _(Float8_e4m3fn) _(Float8_e5m2fnuz) _(Float8_e4m3fnuz) _(UInt16) \
      _(UInt32) _(UInt64)
    OPGATE_EACH_DTYPE(OPGATE_CASE)
#undef OPGATE_CASE
    default:
      TORCH_CHECK(false, "OpGate makes no values of dtype ", dtype);
  }
}

}  // namespace opgate
