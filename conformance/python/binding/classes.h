// Sequences of calls of TorchBind classes, for checks that are written in Python.
#pragma once

#include <pybind11/pybind11.h>

#include "call/call_key.h"

namespace opgate {

/// Whether the class of this spec is meant for torch.export.
bool is_exported(const Spec& spec);

/// `count` random sequences of calls of the class that `key` speaks of, the same as in C++, as a list of
/// {"construct": [arguments], "calls": [(method, [arguments])]}; every tensor is newly made.
pybind11::list class_sequences(const CallKey& key, size_t count);

}  // namespace opgate
