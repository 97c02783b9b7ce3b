// Small changes to PTX sources, which `opgate mutate` makes to see whether a spec notices them.
// python/opgate/mutation/ptx_source.py writes the file that OPGATE_PTX_MUTANTS names.
#pragma once

#include <string>
#include <vector>

namespace opgate::simulator {

/// In the place of a mutant's number: no mutant runs, and those in kernels that are launched are noted.
inline constexpr int kReportReachedPtx = -1;

/// From now on, modules have this mutant. 0: none. Throws std::runtime_error if the file of
/// OPGATE_PTX_MUTANTS cannot be read.
void choose_ptx_mutant(int number);
int chosen_ptx_mutant();

/// The module with the chosen mutant if it is one of this module, and unchanged otherwise.
std::string with_chosen_mutant(const std::string& ptx);

/// Notes the mutants of the functions of this module, given without mutants, that a launch of the kernel can
/// run: those of the kernel, and of every function that is no kernel.
void note_reached_ptx(const std::string& ptx, const std::string& kernel);

/// Those that were noted since the last call, in ascending order.
std::vector<int> take_reached_ptx();

}  // namespace opgate::simulator
