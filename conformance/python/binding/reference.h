// A reference that is a Python function.
#pragma once

#include <opgate/reference.h>
#include <pybind11/pybind11.h>

namespace opgate {

/// Calls `function` with the operator's arguments, those that are keyword-only by keyword, under the lock;
/// what it raises goes on as std::runtime_error, "ValueError: ...".
Reference reference_from_python(pybind11::object function);

}  // namespace opgate
