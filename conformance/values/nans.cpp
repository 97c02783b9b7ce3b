// nans: ordinary values mixed with NaN.
#include <opgate/sample.h>

#include "values/domain.h"
#include "values/mixture.h"
#include "values/special_values.h"

namespace opgate {
namespace {

void fill_nans(const std::vector<double>&, uint64_t key, const at::Tensor& out) {
  fill_mixture(key, out, []<class T>() { return nan_values<T>(); });
}

OPGATE_REGISTER_DOMAIN(nans, {"nans", {0}, &fill_nans, /*ordinary=*/false});

}  // namespace

TensorArgument nans(Shape shape) { return {std::move(shape), {"nans", {}}, std::nullopt}; }

}  // namespace opgate
