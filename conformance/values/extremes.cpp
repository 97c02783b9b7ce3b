// extremes: ordinary values mixed with the dtype's largest, lowest and smallest normal number.
#include <opgate/sample.h>

#include "values/domain.h"
#include "values/mixture.h"
#include "values/special_values.h"

namespace opgate {
namespace {

void fill_extremes(const std::vector<double>&, uint64_t key, const at::Tensor& out) {
  fill_mixture(key, out, []<class T>() { return extreme_values<T>(); });
}

OPGATE_REGISTER_DOMAIN(extremes, {"extremes", {0}, &fill_extremes, /*ordinary=*/false});

}  // namespace

TensorArgument extremes(Shape shape) { return {std::move(shape), {"extremes", {}}, std::nullopt}; }

}  // namespace opgate
