// What the checks of fake kernels share.
#pragma once

#include <optional>

#include "judging/call_under_test.h"
#include "judging/verdict.h"

namespace opgate {

/// Why checks with Check::needs_fake are owed for an operator without one: fake.exists reports it once.
inline constexpr std::string_view kNoFakeKernel = "there is no fake kernel to check; see fake.exists";

/// An owed verdict (not run here, because this process lacks what it needs) where Python registers the fake kernel of
/// the operator, or the operator declares so, and this process has none. None otherwise.
std::optional<Judgement> fake_lives_in_python(const Spec& spec);

}  // namespace opgate
