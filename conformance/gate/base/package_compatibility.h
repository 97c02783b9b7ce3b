// Runs packages of another build with the libraries of this build, to see whether they still work.
#pragma once

#include <filesystem>
#include <vector>

#include "gate/old_package.h"
#include "run/worker/protocol.h"

namespace opgate {

/// The packages in an output folder of `opgate run` that a C++ program can run.
std::vector<std::filesystem::path> packages_in(const std::filesystem::path& output);

/// Runs each package in a process of its own, with the libraries of `head`. Operators must return what
/// their eager kernels return there. Models have no eager form in C++; they must return what the packages
/// of the head's run in `output` returned. Throws SetupError if a process cannot be started, and
/// Interrupted.
std::vector<OldPackage> ask_packages(const std::vector<std::filesystem::path>& packages, const Setup& head,
                                     const std::filesystem::path& output);

}  // namespace opgate
