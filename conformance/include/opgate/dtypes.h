// Sets of dtypes that a spec promises to accept.
#pragma once

#include <c10/core/ScalarType.h>

#include <vector>

namespace opgate {

using Dtypes = std::vector<c10::ScalarType>;

/// Half, BFloat16, Float, Double.
Dtypes floating();

/// UInt8, Int8, Int16, Int32, Int64, without Bool, and without the wider unsigned dtypes, for which torch
/// has few operators.
Dtypes integral();

/// Every dtype that OpGate can make a tensor of. The check value.dtype tries each of them.
Dtypes every_dtype();

}  // namespace opgate
