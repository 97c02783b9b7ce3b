// A kernel that only waits.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace opgate {

/// Launches a kernel that waits for `cycles` cycles of the GPU's clock on `stream`, which must belong to
/// the current device. Throws c10::Error where the launch fails.
void launch_delay(int64_t cycles, cudaStream_t stream);

}  // namespace opgate
