// Gives checks that are written in Python random sequences of calls of TorchBind classes.
#pragma once

#include <pybind11/pybind11.h>

#include <map>
#include <string>

#include "inputs/call_key.h"

namespace opgate {

/// Whether the TorchBind class of this spec is meant for torch.export.
bool is_exported(const Spec& spec);

/// Sets the model of the class's spec, which is written in Python: `functions` holds what makes it as
/// "__init__", and what takes it and the method's arguments, by the method's name. They hold the GIL while
/// they run; an exception becomes std::runtime_error as in call_function().
void set_model(Spec& spec, const std::map<std::string, pybind11::object>& functions);

/// `count` random sequences of calls of the class of `key`, the same as in C++, as a list of {"construct":
/// [arguments], "calls": [(method, [arguments])]}. All tensors are new.
pybind11::list class_sequences(const CallKey& key, size_t count);

}  // namespace opgate
