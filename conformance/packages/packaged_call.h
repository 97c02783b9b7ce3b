// Runs a call as part of its device's AOTInductor package, in this process, without Python.
#pragma once

#include "call/invoke.h"
#include "packages/package_folder.h"

namespace opgate {

/// What the package that holds this call returns for it. Where the package is missing, cannot be loaded,
/// does not hold the call, or raises, the outcome has `raised`.
Outcome packaged_call(PackageFolder& folder, const CallKey& key);

}  // namespace opgate
