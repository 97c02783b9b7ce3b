// Functions of the CUDA driver that programs ask the runtime for by name. Programs may ask for many and call few of them.
#pragma once

#include <string>

namespace opgate::simulator {

/// Null for a name that is not known. A known function that is not simulated fails when it is called, and says its name.
void* driver_function(const std::string& name);

}  // namespace opgate::simulator
