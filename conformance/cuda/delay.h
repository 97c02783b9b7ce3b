// A kernel that does nothing for a while.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace opgate {

/// Launches it on `stream`, which must be one of the current device. Throws c10::Error.
void launch_delay(int64_t cycles, cudaStream_t stream);

}  // namespace opgate
