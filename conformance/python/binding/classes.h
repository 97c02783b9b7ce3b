// Gives checks that are written in Python random sequences of calls of TorchBind classes.
#pragma once

#include <pybind11/pybind11.h>

#include "inputs/call_key.h"

namespace opgate {

/// Whether the TorchBind class of this spec is meant for torch.export.
bool is_exported(const Spec& spec);

/// `count` random sequences of calls of the class of `key`, the same as in C++, as a list of {"construct":
/// [arguments], "calls": [(method, [arguments])]}. All tensors are new.
pybind11::list class_sequences(const CallKey& key, size_t count);

}  // namespace opgate
