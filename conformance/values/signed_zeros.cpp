// signed_zeros: ordinary values mixed with 0 and -0.
#include <opgate/sample.h>

#include "values/domain.h"
#include "values/mixture.h"
#include "values/special_values.h"

namespace opgate {
namespace {

void fill_signed_zeros(const std::vector<double>&, uint64_t key, const at::Tensor& out) {
  fill_mixture(key, out, []<class T>() { return zero_values<T>(); });
}

OPGATE_REGISTER_DOMAIN(signed_zeros, {"signed_zeros", {0}, &fill_signed_zeros, /*ordinary=*/false});

}  // namespace

TensorArgument signed_zeros(Shape shape) { return {std::move(shape), {"signed_zeros", {}}, std::nullopt}; }

}  // namespace opgate
