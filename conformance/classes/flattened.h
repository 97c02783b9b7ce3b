// What __obj_flatten__ must give: ((name, value), ...).
#pragma once

#include <ATen/core/ivalue.h>

#include <optional>
#include <string>

namespace opgate {

/// Why torch.export cannot read this; none where it is a tuple of (name, value) tuples with names that are
/// strings, each once, and values made of None, bools, numbers, strings, tensors, lists, tuples and dicts.
std::optional<std::string> malformed(const c10::IValue& flattened);

}  // namespace opgate
