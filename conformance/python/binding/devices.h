// The devices that OpGate knows, and the simulated one, in a Python process.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <tuple>

namespace opgate {

/// The dispatch keys of kernels, by the names of devices: {"cpu": "CPU", ...}.
std::map<std::string, std::string> device_types_with_keys();

/// Must be called before the first call. Nothing of the device runs here, because workers are forked from
/// this process. Throws SetupError if CUDA is not simulated in this process.
void enable_simulator();

/// What happened, whether the device failed, whether something is missing in the simulation, the kernel with
/// its place, if it was one, and the error in CUDA's words; none if all is well.
std::optional<std::tuple<std::string, bool, bool, std::string, std::string>> simulated_failure();

}  // namespace opgate
