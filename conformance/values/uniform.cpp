// uniform, uniform(low,high): evenly spread values.
//
// A floating value is low + (high - low) * u in double, u from the top 53 bits, then rounded to float and
// from there to the dtype. An integer is floor(first + u * count). A complex number takes two consecutive
// counters.
#include <c10/util/complex.h>
#include <fmt/format.h>
#include <opgate/error.h>
#include <opgate/sample.h>

#include <cmath>
#include <limits>
#include <type_traits>

#include "base/dtypes.h"
#include "values/counter.h"
#include "values/domain.h"

namespace opgate {
namespace {

constexpr double kIntegerBound = 100;

template <class T>
T real_value(double low, double high, double unit) {
  const double value = low + (high - low) * unit;
  if constexpr (std::is_same_v<T, double>) {
    return value;
  } else {
    return static_cast<T>(static_cast<float>(value));
  }
}

// The first and last integer of the range that the dtype has.
template <class T>
std::pair<double, double> integer_bounds(const std::vector<double>& range) {
  const double low = range.empty() ? (std::is_signed_v<T> ? -kIntegerBound : 0) : range[0];
  const double high = range.empty() ? kIntegerBound : range[1];
  // The largest double that is no larger than the dtype's maximum.
  const double largest = std::floor(std::nextafter(std::ldexp(1.0, std::numeric_limits<T>::digits), 0.0));
  return {std::max(std::ceil(low), static_cast<double>(std::numeric_limits<T>::min())),
          std::min(std::floor(high), largest)};
}

template <class T>
void check_range(const std::vector<double>& range) {
  if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
    const auto [first, last] = integer_bounds<T>(range);
    if (first > last)
      throw SpecError(fmt::format("uniform({},{}) holds no integer of this dtype", range[0], range[1]));
  }
}

template <class T>
T value_at(const std::vector<double>& range, uint64_t key, uint64_t i) {
  if constexpr (std::is_same_v<T, bool>) {
    return (bits_at(key, i) >> 63) != 0;
  } else if constexpr (std::is_integral_v<T>) {
    const auto [first, last] = integer_bounds<T>(range);
    return static_cast<T>(first + std::floor(unit_at(key, i) * (last - first + 1)));
  } else {
    const double low = range.empty() ? -1 : range[0];
    const double high = range.empty() ? 1 : range[1];
    if constexpr (c10::is_complex<T>::value) {
      using Real = typename T::value_type;
      return {real_value<Real>(low, high, unit_at(key, 2 * i)),
              real_value<Real>(low, high, unit_at(key, 2 * i + 1))};
    } else {
      return real_value<T>(low, high, unit_at(key, i));
    }
  }
}

void fill(const std::vector<double>& range, uint64_t key, const at::Tensor& out) {
  visit_dtype(out.scalar_type(), [&]<class T>() {
    T* const data = static_cast<T*>(out.mutable_data_ptr());
    const int64_t count = out.numel();
    check_range<T>(range);
    for (int64_t i = 0; i < count; ++i) data[i] = value_at<T>(range, key, static_cast<uint64_t>(i));
  });
}

OPGATE_REGISTER_DOMAIN(uniform, {"uniform", {0, 2}, &fill});

}  // namespace

TensorArgument uniform(Shape shape) { return {std::move(shape), {"uniform", {}}, std::nullopt}; }

TensorArgument uniform(Shape shape, double low, double high) {
  return {std::move(shape), {"uniform", {low, high}}, std::nullopt};
}

}  // namespace opgate
