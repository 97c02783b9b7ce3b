// What explains that a case fails: another broken case of the same operator, whose fault makes this one fail, too. A rule asks
// for evidence that both have one cause (the same call, the same argument, the sample as it is), so that two mistakes of one
// operator stay two.
#pragma once

#include <span>

#include "defects/symptoms.h"

namespace opgate {

/// Returns the case that explains why `broken` fails, or null.
using Attribution = const BrokenCase* (*)(const BrokenCase& broken, const Symptoms& all);

/// Of crashes, and of memory that is not the operator's.
std::span<const Attribution> attributions_to_memory();
/// Of layouts that are not followed, and of wrong or unstable values.
std::span<const Attribution> attributions_to_values();
/// Of fake kernels, aliases, written arguments, missing kernels.
std::span<const Attribution> attributions_to_registration();
/// Of gradients and of refusals.
std::span<const Attribution> attributions_to_gradients_and_refusals();

}  // namespace opgate
