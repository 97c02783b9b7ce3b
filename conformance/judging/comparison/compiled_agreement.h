// How near the results of code that a compiler generated must be to those of eager.
#pragma once

#include <vector>

#include "compare/agreement.h"
#include "inputs/arguments.h"

namespace opgate {

/// Each of the two may be as far from the right result as the spec promises: they must be within twice its
/// accuracy, at the largest element of each of `eager`. A model that promises none, so that its eager results
/// are the reference's bit for bit, is allowed 8 ulps: products and sums that are fused, elementary functions
/// of another library, and results between two operators that are not rounded.
Agreement agreement_of_compiled(const CallKey& key, const std::vector<at::Tensor>& eager);

}  // namespace opgate
