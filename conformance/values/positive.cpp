// positive: values that are never 0 and never negative.
//
// A floating value is 1 - u in double, with u in [0, 1) from the top 53 bits, rounded to float and from
// there to the dtype; where that gives 0, it is the smallest normal number. An integer is 1 + floor(u *
// 100). A bool is true.
#include <opgate/sample.h>

#include "values/domain.h"
#include "values/uniform.h"

namespace opgate {
namespace {

template <class T>
T value_at(uint64_t key, uint64_t i) {
  if constexpr (std::is_same_v<T, bool>) {
    return true;
  } else if constexpr (Opaque<T>) {
    return Uniform<T>().at(key, i);
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(1 + std::floor(unit_at(key, i) * 100));
  } else {
    const T value = rounded<T>(1 - unit_at(key, i));
    return static_cast<double>(value) == 0 ? std::numeric_limits<T>::min() : value;
  }
}

void fill_positive(const std::vector<double>&, uint64_t key, const at::Tensor& out) {
  visit_parts(out, [&]<class T>(T* parts, uint64_t count) {
    for (uint64_t i = 0; i < count; ++i) parts[i] = value_at<T>(key, i);
  });
}

OPGATE_REGISTER_DOMAIN(positive, {"positive", {0}, &fill_positive});

}  // namespace

TensorArgument positive(Shape shape) { return {std::move(shape), {"positive", {}}, std::nullopt}; }

}  // namespace opgate
