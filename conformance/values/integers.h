// What the families of integers share (indices, offsets, permutations): the bound as a parameter, and the
// dtypes.
#pragma once

#include <opgate/sample.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "values/domain.h"

namespace opgate {

/// An argument of a family of integers: Long. Throws SpecError for a bound or size below 0.
TensorArgument integer_argument(Shape shape, const char* family, std::vector<int64_t> parameters);

/// The domain's only parameter as the whole number that it must be, 0 to 2^53. Throws SpecError for another.
int64_t whole_parameter(const Domain& domain);

/// Writes value(i), at most `largest`, at position i of `out`. Throws SpecError where the dtype is none of
/// integers, or has no number so large.
void fill_integers(const Domain& domain, const at::Tensor& out, int64_t largest,
                   const std::function<int64_t(uint64_t)>& value);

/// A number in [0, 1] that is often exactly 0 or 1 (a quarter of the time each): clamp(2 * u - 1/2, 0, 1).
/// Two neighbouring slots of equal width, filled to these fractions, touch now and then.
double often_at_an_end(uint64_t key, uint64_t counter);

}  // namespace opgate
