// The devices of this machine, by type: the CPU or an accelerator.
#pragma once

#include <c10/core/DeviceType.h>
#include <c10/core/DispatchKey.h>

#include <optional>
#include <string>

#include "device/accelerator.h"

namespace opgate {

/// Why calls on this device cannot run here; none if they can, as on the CPU.
std::optional<std::string> missing_device(c10::DeviceType device);

/// The model name of the first device of this type: "NVIDIA H200"; empty for the CPU and where there is
/// none.
std::string device_model(c10::DeviceType device);

/// Waits for all work of this process on the devices of this type, because an operator may work on another
/// than the current one; on the CPU and on meta there is none. Throws c10::Error where a kernel failed.
void synchronize(c10::DeviceType device);

/// True if a kernel has failed in such a way that this process can run nothing more on a device of this
/// type.
bool is_lost(c10::DeviceType device);

/// Makes the device usable in this process; see Accelerator::enable(). Does nothing on the CPU.
void enable_device(c10::DeviceType device, DeviceAllocator allocator = DeviceAllocator::guarded);

/// The dispatch keys of kernels for dense tensors on this device: CPU or CUDA, AutogradCPU or AutogradCUDA,
/// AutocastCPU or AutocastCUDA.
c10::DispatchKey kernel_key(c10::DeviceType device);
c10::DispatchKey autograd_key(c10::DeviceType device);
/// None if torch has no autocast for the device.
std::optional<c10::DispatchKey> autocast_key(c10::DeviceType device);

/// The name for people, and in the names of dispatch keys: "CPU", "CUDA", "PrivateUse1".
std::string device_title(c10::DeviceType device);

}  // namespace opgate
