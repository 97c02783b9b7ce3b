// Whether the message of an exception tells its reader what was wrong with the call.
#pragma once

#include <optional>
#include <string>

#include "call/bad_inputs.h"

namespace opgate {

/// Why the message is of no use to whoever made the call, whatever the call was: an exception of the standard
/// library that names a function of its own ("vector::_M_range_check"), an internal assert, an error that a
/// CUDA kernel left behind, nothing at all. None where it may be of use.
std::optional<std::string> useless_message(const std::string& message);

/// True where the message names what is wrong. It does so with any one of these:
///  - the name of an argument of the operator, as a word of its own: the damaged one or one it does not fit;
///  - a number that the call brought along: a size, rank or element count of one of its tensors, the length
///    of a list, the bad value itself;
///  - for a dtype, the name of the dtype given or wanted, in C++ or Python, or that dtypes are mixed;
///  - the fault by its common name: "undefined", "out of range", "negative", "NaN", "not finite", "empty",
///    "device".
/// Of 2^62 nothing needs to be said by name: an allocator that refuses (std::bad_alloc too) or a size that
/// overflows is a refusal, since nobody knows beforehand what the machine can hold. The dispatcher's own
/// refusals ("Could not run ...", "There were no tensor arguments to this function") are clear.
bool names_what_is_wrong(const std::string& message, const BadInput& bad, const CallKey& key,
                         const Arguments& arguments);

}  // namespace opgate
