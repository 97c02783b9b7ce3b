// Executes launches twice, interpreted and compiled, and compares what they leave (OPGATE_SIM_COMPARE).
#pragma once

#include <functional>
#include <string>

#include "machine/launches/launch.h"

namespace opgate::simulator {

/// Whether the environment asks for it.
bool launches_are_compared();

/// One execution of the launch, whose printed text goes to `Launch::printed`. `is_first`: it is the one whose
/// results are thrown away.
using ExecuteOnce = std::function<Outcome(const Launch& launch, DeviceMemory& memory, bool is_first)>;

/// Executes the launch twice from the same memory, keeps what the second execution leaves, and adds a line to
/// the file of OPGATE_SIM_COMPARE. If anything differs, it reports that and ends the process with
/// kExecutionsDiffer.
Outcome execute_twice(const Launch& launch, DeviceMemory& memory, const ExecuteOnce& execute);

/// Adds a line for a launch that is executed once.
void note_left_out(const Launch& launch, const std::string& why);

/// The exit status of a process in which two executions of a launch differ.
constexpr int kExecutionsDiffer = 3;

}  // namespace opgate::simulator
