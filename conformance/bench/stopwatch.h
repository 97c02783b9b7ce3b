// Time as a device measures it.
#pragma once

#include <c10/core/DeviceType.h>

#include <functional>

namespace opgate {

/// Seconds that `work` takes: by the steady clock on the CPU, between two events on the current stream on
/// CUDA. Throws what `work` throws.
double seconds_of(c10::DeviceType device, const std::function<void()>& work);

}  // namespace opgate
