// special: ordinary values mixed with extremes, subnormals, zeros, infinities and NaN, listed in this order.
#include <opgate/sample.h>

#include "values/domain.h"
#include "values/mixture.h"
#include "values/special_values.h"

namespace opgate {
namespace {

template <class T>
std::vector<T> all_special_values() {
  std::vector<T> all;
  for (const std::vector<T>& some : {extreme_values<T>(), subnormal_values<T>(), zero_values<T>(),
                                     infinity_values<T>(), nan_values<T>()}) {
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

void fill_special(const std::vector<double>&, uint64_t key, const at::Tensor& out) {
  fill_mixture(key, out, []<class T>() { return all_special_values<T>(); });
}

OPGATE_REGISTER_DOMAIN(special, {"special", {0}, &fill_special, /*ordinary=*/false});

}  // namespace

TensorArgument special(Shape shape) { return {std::move(shape), {"special", {}}, std::nullopt}; }

}  // namespace opgate
