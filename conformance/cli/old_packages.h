// Packages that were compiled with another build, asked what they do with the libraries of this one.
#pragma once

#include <filesystem>
#include <vector>

#include "gate/old_package.h"
#include "run/protocol.h"

namespace opgate {

/// The packages in an output folder of `opgate run` that a C++ program can run.
std::vector<std::filesystem::path> packages_in(const std::filesystem::path& output);

/// Runs each in a process of its own, with the libraries of `head`. Operators must answer as their eager
/// kernels do there; models, which have none in C++, as the packages that the last run of `head` made. Throws
/// SetupError where no process can be started, and Interrupted.
std::vector<OldPackage> ask_packages(const std::vector<std::filesystem::path>& packages, const Setup& head,
                                     const std::filesystem::path& output);

}  // namespace opgate
