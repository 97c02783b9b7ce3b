// Makes a Reference from a Python function.
#pragma once

#include <opgate/reference.h>
#include <pybind11/pybind11.h>

namespace opgate {

/// A reference that holds the GIL and calls `function` with the operator's arguments, keyword-only ones by
/// keyword. An exception of `function` becomes std::runtime_error with its type and message: "ValueError:
/// ...".
Reference reference_from_python(pybind11::object function);

}  // namespace opgate
