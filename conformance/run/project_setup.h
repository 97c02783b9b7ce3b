// Loads the subjects (operators, classes, models) that a project's configuration names.
#pragma once

#include <string>
#include <vector>

#include "plan/config.h"
#include "run/worker/protocol.h"
#include "spec/specs.h"

namespace opgate {

/// The set-up that this project's workers receive first. Throws SetupError if a library is not found.
Setup setup_from(const Config& config);

/// The same, once the libraries of operators are loaded into this process: with how processes without Python
/// load them. `interpreter` is the Python of the project. Throws SetupError if a library cannot be loaded.
Setup load_setup(const Config& config, const std::string& interpreter);

/// Loads the libraries as setup.native says, and those of specs, and collects their specs, the described
/// models, the recorded calls and the regressions. Throws SetupError if a library, a recording or a
/// regression cannot be loaded.
std::vector<Spec> load_subjects(const Setup& setup);

}  // namespace opgate
