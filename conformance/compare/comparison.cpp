#include "compare/comparison.h"

#include <ATen/ops/abs.h>
#include <fmt/format.h>

#include <cmath>
#include <cstring>

#include "base/errors.h"
#include "compare/elements.h"
#include "compare/float_format.h"
#include "compare/widen.h"
#include "layouts/geometry.h"

namespace opgate {
namespace {

const std::byte* bytes_of(const at::Tensor& tensor) {
  return static_cast<const std::byte*>(tensor.const_data_ptr());
}

void note(Comparison& result, int64_t linear, bool differs, double error) {
  if (differs && result.differing++ == 0) {
    result.first = linear;
    result.first_ulps = error;
  }
  if (error > result.worst_ulps) {
    result.worst_ulps = error;
    result.worst = linear;
  }
}

template <class Got, class Want>
double element_error(const Got& got, const Want& want, const FloatFormat& format, double scale) {
  const Parts mine = parts_of(got);
  const Parts theirs = parts_of(want);
  const double real = ulp_error(mine.real, theirs.real, format, scale);
  return c10::is_complex<Got>::value ? std::max(real, ulp_error(mine.imag, theirs.imag, format, scale))
                                     : real;
}

// Compares bytes and not values, because a bool's byte may be neither 0 nor 1.
Comparison compare_bytes(const at::Tensor& got, const at::Tensor& want) {
  Comparison result;
  const size_t size = got.element_size();
  for (int64_t i = 0; i < got.numel(); ++i) {
    const size_t at = static_cast<size_t>(i) * size;
    if (std::memcmp(bytes_of(got) + at, bytes_of(want) + at, size) != 0) note(result, i, true, 0);
  }
  return result;
}

// The sign and the payload of a NaN are no operator's promise: processors differ in them, and so do
// compilers, which change the order of operands.
template <class T>
bool same_number(const T& a, const T& b) {
  if constexpr (c10::is_complex<T>::value) {
    return same_number(a.real(), b.real()) && same_number(a.imag(), b.imag());
  } else {
    return std::memcmp(&a, &b, sizeof(T)) == 0 || (a != a && b != b);
  }
}

// Bitwise equal elements are skipped first: their error is 0 whatever their value, and most elements are
// equal.
template <class Got, class Want>
Comparison compare_elements(const at::Tensor& got, const at::Tensor& want, const double* scale,
                            const FloatFormat& format, Accuracy accuracy) {
  Comparison result;
  const auto* const mine = static_cast<const Got*>(got.const_data_ptr());
  const auto* const theirs = static_cast<const Want*>(want.const_data_ptr());
  const int64_t count = got.numel();
  for (int64_t i = 0; i < count; ++i) {
    if constexpr (std::is_same_v<Got, Want>) {
      if (same_number(mine[i], theirs[i])) continue;
    }
    const double error = element_error(mine[i], theirs[i], format, scale == nullptr ? 0 : scale[i]);
    note(result, i, accuracy.exact || !(error <= accuracy.ulps) || std::isinf(error), error);
  }
  return result;
}

// compare_elements is instantiated only for equal dtypes and for a `want` in Double. A `want` of another
// dtype is converted to Double first, which is exact.
Comparison compare_floating(const at::Tensor& got, const at::Tensor& want, const double* scale,
                            const FloatFormat& format, Accuracy accuracy) {
  return visit_dtype(got.scalar_type(), [&]<class Got>() -> Comparison {
    if constexpr (FloatingElement<Got>) {
      if (want.scalar_type() == got.scalar_type())
        return compare_elements<Got, Got>(got, want, scale, format, accuracy);
      using Wide = std::conditional_t<c10::is_complex<Got>::value, c10::complex<double>, double>;
      const at::Tensor wide = want.to(c10::CppTypeToScalarType<Wide>::value);
      return compare_elements<Got, Wide>(got, wide, scale, format, accuracy);
    } else {
      return {};
    }
  });
}

// Whether every value of narrow's dtype is also a value of wide's dtype.
bool holds_all_of(const at::Tensor& wide, const at::Tensor& narrow) {
  const auto outer = float_format(wide.scalar_type());
  const auto inner = float_format(narrow.scalar_type());
  return outer && inner && wide.is_complex() == narrow.is_complex() && outer->precision >= inner->precision &&
         outer->min_exponent <= inner->min_exponent && outer->largest >= inner->largest;
}

// Says what makes the tensors incomparable; nothing if they can be compared.
std::optional<std::string> unlikeness(const at::Tensor& got, const at::Tensor& want, bool in_ulps) {
  if (got.defined() != want.defined()) return got.defined() ? "a tensor, not none" : "no tensor, not one";
  if (got.sizes() != want.sizes())
    return fmt::format("shape {}, not {}", index_text(got.sizes()), index_text(want.sizes()));
  if (got.scalar_type() != want.scalar_type() && !(in_ulps && holds_all_of(want, got)))
    return fmt::format("dtype {}, not {}", dtype_name(got.scalar_type()), dtype_name(want.scalar_type()));
  return std::nullopt;
}

// The absolute values of the scale as a contiguous Double tensor on the host.
at::Tensor magnitude(const at::Tensor& scale, const at::Tensor& want) {
  if (scale.sizes() != want.sizes()) {
    throw spec_error(
        "the accuracy is measured at a scale of shape {1}, but the result has shape {0}: "
        "spec.accuracy's scale must give the reference's shapes; without one, the shape of the reference's "
        "results must not depend on values",
        index_text(want.sizes()), index_text(scale.sizes()));
  }
  return on_host(scale.to(wide_dtype(scale)).abs());
}

}  // namespace

Comparison compare(const at::Tensor& got, const at::Tensor& want, Accuracy accuracy,
                   const at::Tensor& scale) {
  Comparison result;
  if (!got.defined() && !want.defined()) return result;
  const auto format = got.defined() ? format_of_ulps(got.scalar_type(), accuracy) : std::nullopt;
  const bool in_ulps = format && !accuracy.exact;
  result.unlike = unlikeness(got, want, in_ulps);
  if (result.unlike) return result;
  const bool by_inputs = in_ulps && accuracy.by_inputs && scale.defined();
  const at::Tensor magnitudes = by_inputs ? magnitude(scale, want) : at::Tensor();
  const at::Tensor mine = on_host(got);
  const at::Tensor theirs = on_host(want);
  const bool same = mine.numel() == 0 || (mine.scalar_type() == theirs.scalar_type() &&
                                          std::memcmp(bytes_of(mine), bytes_of(theirs), mine.nbytes()) == 0);
  if (!same) {
    result = format
                 ? compare_floating(mine, theirs, by_inputs ? magnitudes.const_data_ptr<double>() : nullptr,
                                    *format, accuracy)
                 : compare_bytes(mine, theirs);
  }
  result.total = mine.numel();
  result.by_inputs = by_inputs;
  if (in_ulps && format->precision < float_format(got.scalar_type())->precision)
    result.ulps_of = accuracy.dtype;
  return result;
}

}  // namespace opgate
