// The domains that mix ordinary values with special ones: extremes (the dtype's largest, lowest and
// smallest normal number), infinities, nans, signed_zeros, subnormals, and special, which has all of them
// in the order extremes, subnormals, zeros, infinities, NaN. mixture.h says where the special values are
// put.
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

/// A domain whose special values `Values` gives for each dtype.
template <class Values>
DomainFamily mixed_with(std::string_view name, Values) {
  const auto fill = [](const std::vector<double>&, uint64_t key, const at::Tensor& out) {
    fill_mixture(key, out, Values());
  };
  return {name, {0}, fill, /*ordinary=*/false};
}

OPGATE_REGISTER_DOMAIN(extremes, mixed_with("extremes", []<class T>() { return extreme_values<T>(); }));
OPGATE_REGISTER_DOMAIN(infinities, mixed_with("infinities", []<class T>() { return infinity_values<T>(); }));
OPGATE_REGISTER_DOMAIN(nans, mixed_with("nans", []<class T>() { return nan_values<T>(); }));
OPGATE_REGISTER_DOMAIN(signed_zeros, mixed_with("signed_zeros", []<class T>() { return zero_values<T>(); }));
OPGATE_REGISTER_DOMAIN(subnormals, mixed_with("subnormals", []<class T>() { return subnormal_values<T>(); }));
OPGATE_REGISTER_DOMAIN(special, mixed_with("special", []<class T>() { return all_special_values<T>(); }));

TensorArgument of_domain(const char* family, Shape shape) {
  return {std::move(shape), {family, {}}, std::nullopt};
}

}  // namespace

TensorArgument extremes(Shape shape) { return of_domain("extremes", std::move(shape)); }
TensorArgument infinities(Shape shape) { return of_domain("infinities", std::move(shape)); }
TensorArgument nans(Shape shape) { return of_domain("nans", std::move(shape)); }
TensorArgument signed_zeros(Shape shape) { return of_domain("signed_zeros", std::move(shape)); }
TensorArgument subnormals(Shape shape) { return of_domain("subnormals", std::move(shape)); }
TensorArgument special(Shape shape) { return of_domain("special", std::move(shape)); }

}  // namespace opgate
