// indices(n): each element is floor(u * n), with u in [0, 1) from the top 53 bits. sorted_indices(n):
// element i of `count` is floor((i + w) / count * n), at most n - 1. w is often exactly 0 or 1
// (often_at_an_end in integers.h), so that neighbours are sometimes equal.
#include <cmath>

#include "base/errors.h"
#include "values/counter.h"
#include "values/integers.h"

namespace opgate {
namespace {

// The floor of `value`, at most n - 1, because the double may have been rounded up to n.
int64_t below(int64_t n, double value) { return std::min(static_cast<int64_t>(std::floor(value)), n - 1); }

int64_t some_bound(const Domain& domain, bool has_elements) {
  const int64_t n = whole_parameter(domain);
  if (n == 0 && has_elements) throw spec_error("{}: there is no index below 0", to_string(domain));
  return n;
}

void fill_any(const std::vector<double>& parameters, uint64_t key, const at::Tensor& out) {
  const Domain domain{"indices", parameters};
  const int64_t n = some_bound(domain, out.numel() > 0);
  fill_integers(domain, out, n - 1,
                [=](uint64_t i) { return below(n, unit_at(key, i) * static_cast<double>(n)); });
}

void fill_sorted(const std::vector<double>& parameters, uint64_t key, const at::Tensor& out) {
  const Domain domain{"sorted_indices", parameters};
  const int64_t n = some_bound(domain, out.numel() > 0);
  const auto count = static_cast<double>(out.numel());
  fill_integers(domain, out, n - 1, [=](uint64_t i) {
    return below(n, (static_cast<double>(i) + often_at_an_end(key, i)) / count * static_cast<double>(n));
  });
}

OPGATE_REGISTER_DOMAIN(indices, {"indices", {1}, &fill_any});
OPGATE_REGISTER_DOMAIN(sorted_indices, {"sorted_indices", {1}, &fill_sorted});

TensorArgument with_bound(Shape shape, const char* family, int64_t n) {
  TensorArgument argument = integer_argument(std::move(shape), family, {n});
  some_bound(argument.domain, std::ranges::find(argument.shape, 0) == argument.shape.end());
  return argument;
}

}  // namespace

TensorArgument indices(Shape shape, int64_t n) { return with_bound(std::move(shape), "indices", n); }

TensorArgument sorted_indices(Shape shape, int64_t n) {
  return with_bound(std::move(shape), "sorted_indices", n);
}

}  // namespace opgate
