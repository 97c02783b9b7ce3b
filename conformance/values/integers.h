// What the families of integers (indices, offsets, permutations) share: reading the bound from the
// parameters, and writing to each integer dtype.
#pragma once

#include <opgate/sample.h>

#include <cstdint>
#include <functional>
#include <vector>

#include "values/domain.h"

namespace opgate {

/// An argument of dtype Long with values of an integer family. Throws SpecError for a bound or size below
/// 0.
TensorArgument integer_argument(Shape shape, const char* family, std::vector<int64_t> parameters);

/// The domain's only parameter, a whole number from 0 to 2^53. Throws SpecError for any other value.
int64_t whole_parameter(const Domain& domain);

/// Writes value(i), which is at most `largest`, at position i of `out`. Throws SpecError if the dtype is
/// not an integer dtype, or cannot hold `largest`.
void fill_integers(const Domain& domain, const at::Tensor& out, int64_t largest,
                   const std::function<int64_t(uint64_t)>& value);

/// A number in [0, 1] that is exactly 0 and exactly 1 a quarter of the time each: clamp(2 * u - 1/2, 0, 1).
/// Values placed at these fractions of neighbouring slots of equal width are therefore sometimes equal.
double often_at_an_end(uint64_t key, uint64_t counter);

}  // namespace opgate
