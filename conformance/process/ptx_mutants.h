// Mutants of PTX, which the simulated device reads instead of the source.
// python/opgate/mutation/ptx/language.py writes the file that OPGATE_PTX_MUTANTS names.
#pragma once

#include <vector>

namespace opgate {

/// From now on, modules that the simulated device has loaded have this mutant. 0: none; kReportReached: none,
/// and those in kernels that are launched are noted. Does nothing without a simulated device or without
/// OPGATE_PTX_MUTANTS. Throws SetupError if that file cannot be read.
void choose_ptx_mutant(int number);

/// Those that a launch of a kernel can run, of the launches since the last call, in ascending order: those of
/// the kernel, and of every function that is no kernel.
std::vector<int> take_reached_ptx();

}  // namespace opgate
