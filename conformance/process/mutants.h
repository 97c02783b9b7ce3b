// Libraries that were built with mutants behind switches: python/opgate/mutation/mutants.h is compiled into
// them.
#pragma once

#include <vector>

namespace opgate {

/// In the place of a mutant's number: no mutant runs, and those whose code a call reaches are noted.
inline constexpr int kReportReached = -1;

/// The environment variable that is set if all mutants are in Python modules, of which
/// python/opgate/mutation/running.py knows, or in PTX, of which process/ptx_mutants.h knows.
inline constexpr auto kNoMutantsInLibraries = "OPGATE_NO_MUTANTS_IN_LIBRARIES";

/// From now on, this mutant of the libraries that this process has loaded runs. 0: none. Throws SetupError if
/// no library has mutants, though some should.
void choose_mutant(int number);

/// The mutants that were reached since the last call.
std::vector<int> reached_mutants();

}  // namespace opgate
