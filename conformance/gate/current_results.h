// Whether results are of the libraries that are here now.
#pragma once

#include "plan/config.h"
#include "run/journal.h"

namespace opgate {

/// Throws SetupError, naming the file, where a library of operators or specs, a library that one of them
/// loads, a Python module or another that it imports from the project, what those modules read, or a file of
/// samples has changed since the run of `header`, is gone, or where the run did not have it. Listed
/// libraries and Python modules are compared wherever the run found them. Returns false if a library of the
/// configuration is not on this machine, so that it cannot be compared.
bool demand_current(const RunHeader& header, const std::filesystem::path& results, const Config& config);

}  // namespace opgate
