// Random numbers for operators that run on the CPU instead of the device.
#pragma once

#include <ATen/core/Generator.h>
#include <c10/core/Device.h>

namespace opgate::simulator::aten {

/// A generator of the CPU that stands for `wanted`, or for the device's own where that is undefined. Its
/// numbers depend on the seed and the offset of that generator, which moves on, so that seeds and states work
/// as on a device. The numbers are not those of a device.
at::Generator on_host(const at::Generator& wanted, c10::Device device);

}  // namespace opgate::simulator::aten
