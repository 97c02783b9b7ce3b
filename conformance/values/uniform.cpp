// uniform, uniform(low,high): evenly spread values; the formula is in uniform.h.
#include "values/uniform.h"

#include <opgate/sample.h>

#include "base/errors.h"
#include "values/domain.h"

namespace opgate {
namespace {

void fill_uniform(const std::vector<double>& range, uint64_t key, const at::Tensor& out) {
  visit_parts(out, [&]<class T>(T* parts, uint64_t count) {
    const Uniform<T> uniform(range);
    if (!uniform.holds_any()) {
      throw spec_error("uniform({},{}) holds no integer of this dtype", range[0], range[1]);
    }
    for (uint64_t i = 0; i < count; ++i) parts[i] = uniform.at(key, i);
  });
}

bool exists_in(const std::vector<double>& range, c10::ScalarType dtype) {
  bool exists = true;
  visit_dtype(dtype, [&]<class T>() {
    if constexpr (std::is_integral_v<T>) exists = Uniform<T>(range).holds_any();
  });
  return exists;
}

OPGATE_REGISTER_DOMAIN(uniform, {"uniform", {0, 2}, &fill_uniform, /*ordinary=*/true, &exists_in});

}  // namespace

TensorArgument uniform(Shape shape) { return {std::move(shape), {"uniform", {}}, std::nullopt}; }

TensorArgument uniform(Shape shape, double low, double high) {
  return {std::move(shape), {"uniform", {low, high}}, std::nullopt};
}

}  // namespace opgate
