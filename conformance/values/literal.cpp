// literal(v0,v1,...): the numbers that the author of the spec wrote, repeated from the first after the
// last. All elements are 0 where no numbers are given. Imaginary parts are 0.
#include <c10/util/accumulate.h>
#include <opgate/sample.h>

#include <cmath>
#include <limits>

#include "base/errors.h"
#include "values/domain.h"
#include "values/parts.h"

namespace opgate {
namespace {

// Truncates toward zero and saturates at the limits of T; NaN becomes 0.
template <class T>
T to_integer(double value) {
  if (std::isnan(value)) return 0;
  if (value >= std::ldexp(1.0, std::numeric_limits<T>::digits)) return std::numeric_limits<T>::max();
  if (value <= static_cast<double>(std::numeric_limits<T>::min())) return std::numeric_limits<T>::min();
  return static_cast<T>(value);
}

template <class T>
T converted(double value) {
  if constexpr (std::is_same_v<T, bool>) {
    return value != 0;
  } else if constexpr (std::is_integral_v<T>) {
    return to_integer<T>(value);
  } else if constexpr (Opaque<T>) {
    return T(to_integer<decltype(T::val_)>(value));
  } else {
    return rounded<T>(value);
  }
}

void fill_literal(const std::vector<double>& numbers, uint64_t, const at::Tensor& out) {
  const uint64_t parts_each = out.is_complex() ? 2 : 1;
  visit_parts(out, [&]<class T>(T* parts, uint64_t count) {
    for (uint64_t i = 0; i < count; ++i) {
      const bool given = i % parts_each == 0 && !numbers.empty();
      parts[i] = converted<T>(given ? numbers[i / parts_each % numbers.size()] : 0.0);
    }
  });
}

OPGATE_REGISTER_DOMAIN(literal, {"literal", {}, &fill_literal});

}  // namespace

TensorArgument values(Shape shape, std::vector<double> numbers) {
  const int64_t count = c10::multiply_integers(shape);
  if (count != static_cast<int64_t>(numbers.size())) {
    throw spec_error("values: {} numbers are given for a shape of {} elements", numbers.size(), count);
  }
  return {std::move(shape), {"literal", std::move(numbers)}, std::nullopt};
}

}  // namespace opgate
