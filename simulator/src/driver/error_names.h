// The names of the driver's errors, which differ from those of the runtime.
#pragma once

#include <cuda.h>

namespace opgate::simulator {

/// Null if the driver has no such error.
const char* driver_error_name(CUresult error);

}  // namespace opgate::simulator
