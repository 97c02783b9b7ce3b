// Inputs of a call whose values are moved a little, so that none lies at a corner of a piecewise function or
// ties with another: where `x` holds zeros, relu has no slope.
#pragma once

#include "inputs/arguments.h"

namespace opgate {

/// Whether derivatives are taken with respect to the input: it is floating or complex, and the operator does
/// not write to it.
bool is_differentiated(const CallKey& key, const TensorInput& input);

/// Moves each value of these inputs by up to 1/128 of itself, at random; zeros become small positive numbers,
/// and Hermitian matrices stay Hermitian. `seed` chooses among such movements.
void move_inputs(const CallKey& key, int seed, Arguments& arguments);

/// Whether the tensor holds Hermitian matrices. Operators on such matrices may read one half of them alone,
/// and have derivatives along Hermitian directions only.
bool is_hermitian(const at::Tensor& tensor);

/// The root of the mean square of the tensor's finite values; 1 where that is 0. `wide` is in Double or
/// ComplexDouble.
double typical_magnitude(const at::Tensor& wide);

}  // namespace opgate
