// The kinds of values that a spec gives its tensor arguments, each with the same bits in C++, in Python and
// on every machine. What a dtype does not have (an infinity among integers or in float8_e4m3fn) is replaced
// by an ordinary value; a complex number gets two values of its part's dtype; bits8 and its like, and
// float4_e2m1fn_x2, take any bits. Values beyond the largest of a dtype without infinity become that.
#pragma once

#include <cstdint>
#include <vector>

namespace opgate {

struct TensorArgument;
using Shape = std::vector<int64_t>;

/// Ordinary values: floats in [-1, 1), signed integers in [-100, 100], unsigned ones in [0, 100], either
/// bool.
TensorArgument uniform(Shape shape);

/// Floats in [low, high); integers from ceil(low) to floor(high).
TensorArgument uniform(Shape shape, double low, double high);

/// Never 0, never negative: floats in (0, 1], integers in [1, 100], true. For logarithms, divisors,
/// variances.
TensorArgument positive(Shape shape);

/// Integers in [0, n), Long unless fixed otherwise with .of(at::kInt). Throws SpecError where n is negative,
/// or 0 for a shape that has elements.
TensorArgument indices(Shape shape, int64_t n);

/// Like indices, in ascending order over the whole tensor, with repeats and gaps: segment ids.
TensorArgument sorted_indices(Shape shape, int64_t n);

/// `count` boundaries of count - 1 intervals that divide [0, n): 1-dim, Long, ascending, the first 0, the
/// last n; some intervals are empty. As jagged tensors and CSR matrices have them. One boundary alone is 0.
TensorArgument offsets(int64_t count, int64_t n);

/// 0 ... count-1, each once, in any order: 1-dim, Long.
TensorArgument permutation(int64_t count);

/// These numbers in row-major order: boxes, weights, a checked vector. Rounded to float and then to the
/// dtype; integers toward zero, and to the nearest that the dtype has; complex ones have no imaginary part. A
/// derived case of another size takes the first of them, or begins anew after the last. Throws SpecError
/// where they are not as many as the shape has elements.
TensorArgument values(Shape shape, std::vector<double> numbers);

/// Ordinary values mixed with the dtype's largest, its lowest and its smallest normal number.
TensorArgument extremes(Shape shape);

/// Ordinary values mixed with the smallest and the largest subnormal number of either sign.
TensorArgument subnormals(Shape shape);

/// Ordinary values mixed with 0 and -0.
TensorArgument signed_zeros(Shape shape);

/// Ordinary values mixed with both infinities.
TensorArgument infinities(Shape shape);

/// Ordinary values mixed with NaN, the one that torch's own conversions make.
TensorArgument nans(Shape shape);

/// Ordinary values mixed with all of the above.
TensorArgument special(Shape shape);

}  // namespace opgate
