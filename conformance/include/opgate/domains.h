// The kinds of values that a spec gives its tensor arguments. Each has the same bits in C++, in Python and
// on every machine.
//
// Where a dtype lacks a value (an infinity among integers or in float8_e4m3fn), an ordinary value replaces
// it. A value beyond the largest number of a dtype without infinity becomes that largest number. A complex
// number gets two values of the dtype of its parts. The dtypes bits8, bits16 and the like, and
// float4_e2m1fn_x2, get arbitrary bits.
#pragma once

#include <cstdint>
#include <vector>

namespace opgate {

struct TensorArgument;
/// The sizes of a tensor; {} is a 0-dim tensor.
using Shape = std::vector<int64_t>;

/// Ordinary values: floats in [-1, 1), signed integers in [-100, 100], unsigned ones in [0, 100], bools
/// true or false.
TensorArgument uniform(Shape shape);

/// Floats in [low, high); integers from ceil(low) to floor(high).
TensorArgument uniform(Shape shape, double low, double high);

/// Values above 0, for logarithms, divisors and variances: floats in (0, 1], integers in [1, 100], bools
/// true.
TensorArgument positive(Shape shape);

/// Integers in [0, n), of dtype Long unless .of(at::kInt) or the like fixes another one. Throws SpecError
/// where n is negative, or 0 for a shape that has elements.
TensorArgument indices(Shape shape, int64_t n);

/// Like indices, but in ascending order over the whole tensor, with repeats and gaps, as segment ids are.
TensorArgument sorted_indices(Shape shape, int64_t n);

/// `count` boundaries of count - 1 intervals that divide [0, n), as jagged tensors and CSR matrices have
/// them: 1-dim, of dtype Long, ascending, the first 0, the last n; some intervals are empty. A single
/// boundary is 0.
TensorArgument offsets(int64_t count, int64_t n);

/// The integers 0 ... count-1, each once, in any order: 1-dim, of dtype Long.
TensorArgument permutation(int64_t count);

/// These numbers, in row-major order: boxes, weights, a test vector. For floating dtypes they are rounded
/// to float and from there to the dtype (not for Double, which keeps them). For integers they are truncated
/// toward zero and limited to the range of the dtype; for bools they are true if not 0. Imaginary parts
/// are 0. A derived case of another size takes the first numbers, or repeats them from the first after the
/// last. Throws SpecError if there are not as many numbers as the shape has elements.
TensorArgument values(Shape shape, std::vector<double> numbers);

/// Ordinary values mixed with the dtype's largest, lowest and smallest positive normal number.
TensorArgument extremes(Shape shape);

/// Ordinary values mixed with the smallest and the largest subnormal number of either sign.
TensorArgument subnormals(Shape shape);

/// Ordinary values mixed with 0 and -0.
TensorArgument signed_zeros(Shape shape);

/// Ordinary values mixed with both infinities.
TensorArgument infinities(Shape shape);

/// Ordinary values mixed with NaN, with the bits that torch's own conversions give it.
TensorArgument nans(Shape shape);

/// Ordinary values mixed with all of the above.
TensorArgument special(Shape shape);

}  // namespace opgate
