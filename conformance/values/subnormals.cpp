// subnormals: ordinary values mixed with the smallest and largest subnormal numbers.
#include <opgate/sample.h>

#include "values/domain.h"
#include "values/mixture.h"
#include "values/special_values.h"

namespace opgate {
namespace {

void fill_subnormals(const std::vector<double>&, uint64_t key, const at::Tensor& out) {
  fill_mixture(key, out, []<class T>() { return subnormal_values<T>(); });
}

OPGATE_REGISTER_DOMAIN(subnormals, {"subnormals", {0}, &fill_subnormals, /*ordinary=*/false});

}  // namespace

TensorArgument subnormals(Shape shape) { return {std::move(shape), {"subnormals", {}}, std::nullopt}; }

}  // namespace opgate
