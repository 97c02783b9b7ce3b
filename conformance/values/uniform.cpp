// uniform, uniform(low,high): evenly spread values.
//
// A floating value is low + (high - low) * u in double, u from the top 53 bits, then rounded to float and
// from there to the dtype. An integer is floor(first + u * count). A complex number takes two consecutive
// counters.
#include <c10/util/complex.h>
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

template <class T>
T value_at(const std::vector<double>& range, uint64_t key, uint64_t i) {
  const bool ranged = range.size() == 2;
  if constexpr (std::is_same_v<T, bool>) {
    return (bits_at(key, i) >> 63) != 0;
  } else if constexpr (std::is_integral_v<T>) {
    double first = ranged ? std::ceil(range[0]) : (std::is_signed_v<T> ? -kIntegerBound : 0);
    double last = ranged ? std::floor(range[1]) : kIntegerBound;
    first = std::max(first, static_cast<double>(std::numeric_limits<T>::min()));
    return static_cast<T>(first + std::floor(unit_at(key, i) * (last - first + 1)));
  } else {
    const double low = ranged ? range[0] : -1;
    const double high = ranged ? range[1] : 1;
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
    for (int64_t i = 0; i < count; ++i) data[i] = value_at<T>(range, key, static_cast<uint64_t>(i));
  });
}

OPGATE_REGISTER_DOMAIN(uniform, {"uniform", &fill});

}  // namespace

TensorArgument uniform(Shape shape) { return {std::move(shape), {"uniform", {}}, std::nullopt}; }

TensorArgument uniform(Shape shape, double low, double high) {
  return {std::move(shape), {"uniform", {low, high}}, std::nullopt};
}

}  // namespace opgate
