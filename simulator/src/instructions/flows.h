// Readers of how the bits of sources reach results.
#pragma once

#include "ptx/value_flow.h"

namespace opgate::simulator {

/// A result is a number, or two of 16 bits.
ValueFlow flow_of_number(const Modifiers& words);
/// Bits move, or are combined one by one.
ValueFlow flow_of_bits(const Modifiers& words);
/// The first source moves from lane to lane.
ValueFlow flow_of_shuffle(const Modifiers& words);
/// Integers: 0 hides the other factor. Numbers of floating point times 0 may be NaN.
ValueFlow flow_of_multiplication(const Modifiers& words);
ValueFlow flow_of_24_bits(const Modifiers& words);
/// The result is a predicate.
ValueFlow flow_of_condition(const Modifiers& words);
ValueFlow flow_of_vote(const Modifiers& words);
ValueFlow flow_of_move(const Modifiers& words);
/// cvt.to.from
ValueFlow flow_of_conversion(const Modifiers& words);
/// mma and wmma.mma.
ValueFlow flow_of_product(const Modifiers& words);
/// All sources decide what it does, whatever its effect is taken for.
ValueFlow flow_of_effect(const Modifiers& words);

}  // namespace opgate::simulator
