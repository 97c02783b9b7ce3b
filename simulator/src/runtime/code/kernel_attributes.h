// The attributes of a kernel on a device.
#pragma once

#include <driver_types.h>

#include "runtime/code/binaries.h"

namespace opgate::simulator {

cudaFuncAttributes kernel_attributes(Kernel& kernel, int device, MemoryMap& memory);

/// Refuses values that the device does not allow, and attributes that are not simulated.
void set_kernel_attribute(MemoryMap& memory, Kernel& kernel, cudaFuncAttribute attribute, int value,
                          int device);

}  // namespace opgate::simulator
