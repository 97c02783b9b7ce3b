// What this process checks, once libraries are loaded: the specs, fitted to their schemas, and the models.
#pragma once

#include <vector>

#include "run/protocol.h"
#include "spec/specs.h"

namespace opgate {

/// Loads the libraries and collects their specs and the described models. Throws SetupError.
std::vector<Spec> load_subjects(const Setup& setup);

}  // namespace opgate
