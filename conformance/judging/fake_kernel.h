// What the checks of fake kernels share.
#pragma once

#include <optional>

#include "inputs/call_key.h"
#include "judging/obstacle.h"

namespace opgate {

/// The obstacle to a check that calls the fake kernel in its own process: Python registers it, or the
/// operator declares so, and this process has none. None otherwise.
std::optional<Obstacle> fake_lives_in_python(const CallKey& key);

}  // namespace opgate
