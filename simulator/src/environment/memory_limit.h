// How much memory of the machine a simulated program may take.
#pragma once

#include <string>

namespace opgate::simulator {

/// Empty as long as this process takes no more than OPGATE_SIM_HOST_MEMORY allows; otherwise what it needs,
/// in words. The processes that pytest-xdist runs side by side share the limit. Reads a file of /proc. Throws
/// std::runtime_error if the setting is no number.
std::string beyond_memory_limit();

}  // namespace opgate::simulator
