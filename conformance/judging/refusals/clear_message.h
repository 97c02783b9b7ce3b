// Judges whether the message of an exception tells the caller what was wrong with the call.
#pragma once

#include <optional>
#include <string>

#include "inputs/bad_inputs.h"

namespace opgate {

/// Why the message is useless to the caller, whatever the call was: it is empty, an exception of the
/// standard library that names a function of the library ("vector::_M_range_check"), an internal assert, or
/// an error that a kernel of an accelerator left behind. None if the message may be useful.
std::optional<std::string> useless_message(const std::string& message);

/// True if the message names what is wrong. It does so with any one of these:
///  - the name of any argument of the operator, as a word of its own: the damaged one, or one that it does
///    not fit;
///  - a number of the call: a size, rank or element count of one of its tensors, the length of a list, or
///    the bad value itself;
///  - for a dtype, the name of the dtype given or wanted, in C++ or Python, or that dtypes are mixed;
///  - the fault by its common name: "undefined", "out of range", "negative", "NaN", "not finite", "empty",
///    "device".
/// For the value 2^62 any message will do: the refusal may come from an allocator (std::bad_alloc too) or
/// from a size that overflows, because an operator cannot know beforehand how much memory the machine has.
/// The dispatcher's own refusals ("Could not run ...", "There were no tensor arguments to this function")
/// are clear.
bool names_what_is_wrong(const std::string& message, const BadInput& bad, const CallKey& key,
                         const Arguments& arguments);

/// What a message lacks of an operator that promises clear errors: the name of the argument (of any argument,
/// where shape, dtype or device of several do not fit, or where the bad value is shown), or what was wrong
/// with it, by any of the other means above. None if it lacks nothing, comes from the dispatcher, or says of
/// an undefined tensor that there is one.
std::optional<std::string> lacking_in_message(const std::string& message, const BadInput& bad,
                                              const CallKey& key, const Arguments& arguments);

}  // namespace opgate
