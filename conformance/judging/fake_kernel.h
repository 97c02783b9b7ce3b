// What the checks of fake kernels share.
#pragma once

#include <optional>

#include "judging/call_under_test.h"
#include "judging/verdict.h"

namespace opgate {

/// True where a kernel is registered that runs on Meta tensors. The dispatcher's own fallback, which every
/// operator has and which raises, does not count.
bool has_fake_kernel(const c10::OperatorHandle& op);

/// An owed verdict (not run here, because this process lacks what it needs) where the operator declares
/// that a Python module registers its fake kernel, which a process without Python cannot load. None
/// otherwise.
std::optional<Judgement> fake_lives_in_python(const c10::OperatorHandle& op);

}  // namespace opgate
