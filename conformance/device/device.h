// The devices of this machine.
#pragma once

#include <c10/core/DeviceType.h>

#include <optional>
#include <string>

namespace opgate {

/// The reason why calls on this device cannot run here, such as "no NVIDIA driver (libcuda.so.1) on this
/// machine"; none if they can. Asks the driver without loading any part of torch.
std::optional<std::string> missing_device(c10::DeviceType device);

/// The model name of the first device of this type: "NVIDIA H200"; empty for the CPU and where there is
/// none.
std::string device_model(c10::DeviceType device);

/// Waits for all work of this process on the devices of this type, because an operator may work on another than the current
/// one; on meta there is none. Throws c10::Error where a kernel failed.
void synchronize(c10::DeviceType device);

/// True where a kernel has failed in such a way that this process can run nothing more on a device of this
/// type.
bool is_lost(c10::DeviceType device);

/// The allocator of a device: OpGate's, with red zones and poison, or torch's own, which is faster.
enum class DeviceAllocator { guarded, plain };

/// Whether this torch has libtorch_cuda.so.
bool has_torch_cuda();

/// Makes the device usable in this process: loads libtorch_cuda.so, which `opgate` does not link because
/// that costs a second at start, and libopgate_cuda.so, which provides cuda_services(). Does nothing on the
/// CPU, and after the first call for CUDA. Must be called before anything allocates memory on the device.
/// Throws SetupError where a library cannot be loaded.
void enable_device(c10::DeviceType device, DeviceAllocator allocator = DeviceAllocator::guarded);

}  // namespace opgate
