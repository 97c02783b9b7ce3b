#include "values/integers.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/errors.h"
#include "values/counter.h"
#include "values/parts.h"

namespace opgate {

TensorArgument integer_argument(Shape shape, const char* family, std::vector<int64_t> parameters) {
  const bool negative = std::ranges::any_of(shape, [](int64_t size) { return size < 0; });
  Domain domain{family, std::vector<double>(parameters.begin(), parameters.end())};
  if (negative) throw spec_error("{}: the number of elements is negative", to_string(domain));
  if (!parameters.empty()) whole_parameter(domain);
  return {std::move(shape), std::move(domain), c10::kLong};
}

int64_t whole_parameter(const Domain& domain) {
  const double n = domain.parameters[0];
  if (n >= 0 && n <= 0x1p53 && n == std::floor(n)) return static_cast<int64_t>(n);
  throw spec_error("{}: {} is not a whole number from 0 to 2^53", to_string(domain), n);
}

void fill_integers(const Domain& domain, const at::Tensor& out, int64_t largest,
                   const std::function<int64_t(uint64_t)>& value) {
  visit_parts(out, [&]<class T>(T* parts, uint64_t count) {
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
      if (largest > 0 &&
          static_cast<uint64_t>(largest) > static_cast<uint64_t>(std::numeric_limits<T>::max())) {
        throw spec_error("{} reaches {}, which {} cannot hold", to_string(domain), largest,
                         dtype_name(out.scalar_type()));
      }
      for (uint64_t i = 0; i < count; ++i) parts[i] = static_cast<T>(value(i));
    } else {
      throw spec_error(
          "{} is made of integers, and {} is not an integer dtype: give the argument one, for "
          "example with .of(at::kLong)",
          to_string(domain), dtype_name(out.scalar_type()));
    }
  });
}

double often_at_an_end(uint64_t key, uint64_t counter) {
  return std::clamp(2 * unit_at(key, counter) - 0.5, 0.0, 1.0);
}

}  // namespace opgate
