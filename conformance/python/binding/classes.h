// Models of TorchBind classes that are written in Python.
#pragma once

#include <pybind11/pybind11.h>

#include <map>
#include <string>

namespace opgate {

struct Spec;

/// Sets the model of the class's spec, which is written in Python: `functions` holds what makes it as
/// "__init__", and what takes it and the method's arguments, by the method's name. They hold the GIL while
/// they run; an exception becomes std::runtime_error as in call_function().
void set_model(Spec& spec, const std::map<std::string, pybind11::object>& functions);

}  // namespace opgate
