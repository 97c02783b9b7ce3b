// infinities: ordinary values mixed with both infinities.
#include <opgate/sample.h>

#include "values/domain.h"
#include "values/mixture.h"
#include "values/special_values.h"

namespace opgate {
namespace {

void fill_infinities(const std::vector<double>&, uint64_t key, const at::Tensor& out) {
  fill_mixture(key, out, []<class T>() { return infinity_values<T>(); });
}

OPGATE_REGISTER_DOMAIN(infinities, {"infinities", {0}, &fill_infinities, /*ordinary=*/false});

}  // namespace

TensorArgument infinities(Shape shape) { return {std::move(shape), {"infinities", {}}, std::nullopt}; }

}  // namespace opgate
