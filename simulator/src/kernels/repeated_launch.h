// Launches that are executed once more, from the memory that they began with.
#pragma once

#include <functional>

#include "kernels/repeated_memory.h"
#include "machine/launches/launch.h"

namespace opgate::simulator {

/// Executes the launch in this memory.
using Execution = std::function<Outcome(const Launch& launch, DeviceMemory& memory)>;

/// Whether the launch, which has ended with `outcome` and left what the memory holds now, ends like that and
/// leaves the same if it is executed in another way. The memory stays as it is, and nothing is printed.
bool leaves_the_same(const Launch& launch, const Outcome& outcome, KeptMemory& kept,
                     const Execution& in_another_way);

}  // namespace opgate::simulator
