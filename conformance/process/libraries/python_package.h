// Where OpGate's Python package is, and what of it runs in Python programs before they begin.
#pragma once

#include <filesystem>
#include <string>

namespace opgate {

/// The folder of the package `opgate` that belongs to this program: beside it in a build folder, and above it
/// in an installed package.
std::filesystem::path python_package();

/// A value of PYTHONPATH by which each Python program imports OpGate's sitecustomize first. Throws SetupError
/// if this OpGate lacks it.
std::string python_path_with_startup();

}  // namespace opgate
