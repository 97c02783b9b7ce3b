// Bad arguments that are no tensors: numbers out of any range, lists of another length.
#pragma once

#include "call/bad_inputs.h"

namespace opgate {

/// Their texts are without the prefix. Arguments that the spec trusts are left alone.
std::vector<BadInput> bad_values(const Spec& spec, const Sample& sample);

}  // namespace opgate
