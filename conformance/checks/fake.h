// What the checks of fake kernels share.
#pragma once

#include <optional>

#include "call/evidence.h"
#include "checks/verdict.h"

namespace opgate {

/// An owed verdict where the operator says that its fake kernel is registered by a Python module, which a
/// process without Python does not have.
std::optional<Judgement> fake_lives_in_python(const c10::OperatorHandle& op);

}  // namespace opgate
