// What the checks of fake kernels share.
#pragma once

#include <optional>

#include "inputs/bad_inputs.h"
#include "inputs/call_key.h"
#include "judging/obstacle.h"

namespace opgate {

/// The obstacle to a check that calls the fake kernel in its own process: Python registers it, or the
/// operator declares so, and this process has none. None otherwise.
std::optional<Obstacle> fake_lives_in_python(const CallKey& key);

/// Whether a fake kernel can know that the input is bad: it sees sizes, dtypes and numbers, and neither
/// elements nor the device. False for the integer kHugeInteger, for which an operator may lack memory or
/// time.
bool is_visible_to_fake_kernels(const BadInput& bad);

}  // namespace opgate
