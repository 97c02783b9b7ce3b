// What runs in Python programs before they begin.
#pragma once

#include <string>

namespace opgate {

/// A value of PYTHONPATH by which each Python program imports OpGate's sitecustomize first. Throws SetupError
/// if this OpGate lacks it.
std::string python_path_with_startup();

}  // namespace opgate
