// Bad tensors: of another rank, size, dtype or device, undefined, or with an element out of their domain.
#pragma once

#include "call/bad_inputs.h"

namespace opgate {

/// Their texts are without the prefix.
std::vector<BadInput> bad_tensors(const Spec& spec, const Sample& sample);

}  // namespace opgate
