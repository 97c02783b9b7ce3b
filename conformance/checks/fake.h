// What the checks of fake kernels share.
#pragma once

#include <optional>

#include "call/evidence.h"
#include "checks/verdict.h"

namespace opgate {

/// True where a kernel was registered that Meta tensors get. The dispatcher itself has one for every
/// operator: a fallback that raises.
bool has_fake_kernel(const c10::OperatorHandle& op);

/// An owed verdict where the operator says that its fake kernel is registered by a Python module, which a
/// process without Python does not have.
std::optional<Judgement> fake_lives_in_python(const c10::OperatorHandle& op);

}  // namespace opgate
