// A group that nothing belongs to: a bin, a segment or a row that no index names, or offsets of which two are
// equal. Callers have them, and samples seldom do.
#pragma once

#include <ATen/core/Tensor.h>
#include <opgate/sample.h>

#include "inputs/damage.h"

namespace opgate {

struct Spec;

/// Whether a group of `tensor`, an argument of `sample`, can be emptied, so that the values stay valid: of
/// indices and offsets that a spec describes; of a recording, whose numbers may mean anything, where they are
/// offsets for certain and no segment becomes longer than an integer argument allows.
bool can_empty_group(const Spec& spec, const Sample& sample, const TensorArgument& tensor,
                     InputDamage::Place place);

/// Changes the values of `tensor`, a contiguous one with the values of `described`, so that nothing belongs
/// to that group.
void empty_group(const TensorArgument& described, at::Tensor& tensor, InputDamage::Place place);

}  // namespace opgate
