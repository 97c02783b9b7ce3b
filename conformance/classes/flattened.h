// Checks what __obj_flatten__ returns, which must be ((name, value), ...).
#pragma once

#include <ATen/core/ivalue.h>

#include <optional>
#include <string>

namespace opgate {

/// The reason why torch.export cannot read this value; none if it is a tuple of (name, value) tuples,
/// whose names are distinct strings, and whose values consist of None, bools, numbers, strings, tensors,
/// lists, tuples and dicts.
std::optional<std::string> malformed(const c10::IValue& flattened);

}  // namespace opgate
