// Times work by the clock of a device.
#pragma once

#include <c10/core/DeviceType.h>

#include <functional>

namespace opgate {

/// The seconds that `work` takes: by the steady clock on the CPU, and between two events on the current
/// stream on CUDA. Throws what `work` throws.
double seconds_of(c10::DeviceType device, const std::function<void()>& work);

}  // namespace opgate
