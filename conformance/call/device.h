// Devices of this machine.
#pragma once

#include <c10/core/DeviceType.h>

#include <optional>
#include <string>

namespace opgate {

/// Why calls on this device cannot run here, such as "no NVIDIA driver (libcuda.so.1) on this machine"; none
/// if they can. Asks the driver and loads nothing of torch.
std::optional<std::string> missing_device(c10::DeviceType device);

/// What the first of these devices calls itself: "NVIDIA H200"; empty for the CPU and where there is none.
std::string device_model(c10::DeviceType device);

/// Waits for all that was started on the current device of this type. Throws c10::Error where a kernel
/// failed.
void synchronize(c10::DeviceType device);

/// True where a kernel has failed so that nothing more can run on one of these devices in this process.
bool is_lost(c10::DeviceType device);

/// Whose allocator a device gets: OpGate's, with red zones and poison, or torch's own, at its own speed.
enum class DeviceAllocator { guarded, plain };

/// Makes the device usable in this process: loads libtorch_cuda.so, which `opgate` does not link because it
/// costs a second at start, and libopgate_cuda.so, which provides cuda_services(). Once a process, before
/// anything allocates memory there. Throws SetupError where one of them cannot be loaded.
void enable_device(c10::DeviceType device, DeviceAllocator allocator = DeviceAllocator::guarded);

}  // namespace opgate
