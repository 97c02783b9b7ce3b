// What explains that a case fails: another broken case of the same operator, whose fault makes this one fail,
// too. A rule asks for evidence that both have one cause (the same call, the same argument, the sample as it
// is), so that two mistakes of one operator stay two.
#pragma once

#include <span>

#include "defects/symptoms.h"

namespace opgate {

/// Returns the case that explains why `broken` fails, or null.
using Attribution = const BrokenCase* (*)(const BrokenCase& broken, const Symptoms& all);

/// To crashes, to memory that is not the operator's, and to layouts that are not followed.
std::span<const Attribution> attributions_to_memory();
/// To wrong, unstable or kept values, and to dtypes that are refused.
std::span<const Attribution> attributions_to_values();
/// To fake kernels, aliases, written arguments, missing kernels.
std::span<const Attribution> attributions_to_registration();
/// To gradients, and to crashes for bad inputs.
std::span<const Attribution> attributions_to_gradients_and_refusals();

}  // namespace opgate
