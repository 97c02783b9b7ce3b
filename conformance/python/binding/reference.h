// Calls Python functions, and makes a Reference from one.
#pragma once

#include <opgate/reference.h>
#include <pybind11/pybind11.h>

namespace opgate {

/// Calls `function`; the caller holds the GIL. An exception of it becomes std::runtime_error with its type
/// and message: "ValueError: ...".
pybind11::object call_function(const pybind11::object& function, const pybind11::list& positional,
                               const pybind11::dict& keywords);

/// A reference that holds the GIL and calls `function` with the operator's arguments, keyword-only ones by
/// keyword. Exceptions as in call_function().
Reference reference_from_python(pybind11::object function);

}  // namespace opgate
