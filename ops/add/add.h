// What the kernels of add share: the sizes and dtype of the result follow PyTorch's rules for broadcasting
// and type promotion.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/result_type.h>
#include <c10/core/SymBool.h>
#include <c10/util/Exception.h>

#include <type_traits>
#include <vector>

#include "../common/checks.h"

namespace opgate_ops {

/// These functions call the operators through the dispatcher. x and other are Bool, an integral dtype,
/// Half, BFloat16, Float or Double, on one device, and broadcast against each other. The result has the
/// dtype that at::result_type gives. If it has the sizes of x, it has the strides of at::empty_like(x);
/// otherwise it is contiguous. Throws c10::Error for other arguments.
at::Tensor add(const at::Tensor& x, const at::Tensor& other);
at::Tensor add(const at::Tensor& x, const at::Scalar& other);

inline void check_add_dtype(const char* name, at::ScalarType dtype) {
  const bool wide_unsigned = dtype == at::kUInt16 || dtype == at::kUInt32 || dtype == at::kUInt64;
  TORCH_CHECK(is_floating(dtype) || (c10::isIntegralType(dtype, /*includeBool=*/true) && !wide_unsigned),
              "add: ", name, " must be Bool, UInt8, Int8 to Int64, Half, BFloat16, Float or Double, got ",
              dtype);
}

inline void check_add(const at::Tensor& x, const at::Tensor& other) {
  check_defined({"add", "x", x});
  check_defined({"add", "other", other});

  check_add_dtype("x", x.scalar_type());
  check_add_dtype("other", other.scalar_type());
  TORCH_CHECK(x.device() == other.device(), "add: other must be on the device of x, ", x.device(), ", got ",
              other.device());
}

/// Whether the sizes are known to be equal. Symbols that may differ count as different, and get no guard.
inline bool known_equal(c10::SymIntArrayRef a, c10::SymIntArrayRef b) {
  bool equal = a.size() == b.size();
  for (size_t dim = 0; equal && dim < a.size(); ++dim) equal = TORCH_GUARD_OR_FALSE(a[dim].sym_eq(b[dim]));
  return equal;
}

/// The sizes of the broadcast result. A symbolic size counts as 1 only if it is known to be 1.
inline std::vector<c10::SymInt> broadcast_sizes(const at::Tensor& x, const at::Tensor& other) {
  const auto a = x.sym_sizes(), b = other.sym_sizes();
  std::vector<c10::SymInt> sizes(std::max(a.size(), b.size()));
  for (size_t back = 1; back <= sizes.size(); ++back) {
    c10::SymInt& size = sizes[sizes.size() - back];
    if (back > b.size() || (back <= a.size() && TORCH_GUARD_OR_FALSE(b[b.size() - back].sym_eq(1)))) {
      size = a[a.size() - back];
    } else if (back > a.size() || TORCH_GUARD_OR_FALSE(a[a.size() - back].sym_eq(1))) {
      size = b[b.size() - back];
    } else {
      size = a[a.size() - back];
      TORCH_SYM_CHECK(size.sym_eq(b[b.size() - back]), "add: x of sizes ", a, " and other of sizes ", b,
                      " do not broadcast: dimension ", -static_cast<int64_t>(back), " is ", size, " and ",
                      b[b.size() - back]);
    }
  }
  return sizes;
}

/// The dtype of the result. Most sums are of one dtype, and then nobody need be asked.
inline at::ScalarType sum_dtype(const at::Tensor& x, const at::Tensor& other) {
  return x.scalar_type() == other.scalar_type() ? x.scalar_type() : at::result_type(x, other);
}

/// The uninitialised result. Throws c10::Error if the arguments cannot be added.
inline at::Tensor empty_sum(const at::Tensor& x, const at::Tensor& other) {
  check_add(x, other);
  const auto options = x.options().dtype(sum_dtype(x, other));
  if (known_equal(x.sym_sizes(), other.sym_sizes())) return at::empty_like(x, options);
  const std::vector<c10::SymInt> sizes = broadcast_sizes(x, other);
  return known_equal(x.sym_sizes(), sizes) ? at::empty_like(x, options) : at::empty_symint(sizes, options);
}

inline at::Tensor empty_sum(const at::Tensor& x, const at::Scalar& other) {
  check_add_dtype("x", x.scalar_type());
  const at::ScalarType dtype = at::result_type(x, other);
  check_add_dtype("the sum with other", dtype);
  return at::empty_like(x, x.options().dtype(dtype));
}

/// The sum of two numbers. Integers wrap around; the sum of two Bools is true if one of them is.
struct Plus {
  template <typename T>
  C10_HOST_DEVICE T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
      using Unsigned = std::make_unsigned_t<T>;  // a signed sum must not overflow
      return static_cast<T>(static_cast<Unsigned>(a) + static_cast<Unsigned>(b));
    } else {
      return static_cast<T>(a + b);
    }
  }
};

/// Plus, with a second number that is the same for all elements.
template <typename T>
struct PlusNumber {
  T number;
  C10_HOST_DEVICE T operator()(T a) const { return Plus()(a, number); }
};

}  // namespace opgate_ops
