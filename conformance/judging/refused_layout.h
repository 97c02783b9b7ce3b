// An operator that refuses a layout, in words or without any.
#pragma once

#include <optional>

#include "call/invoke.h"
#include "judging/verdict.h"
#include "spec/spec.h"

namespace opgate {

/// A note where the spec is a draft and the message names the layout ("x must be contiguous", an alignment),
/// or is empty, as that of `assert x.is_contiguous()`: nobody has promised that the operator takes it. None
/// for other messages, and for finished specs, where an operator takes every layout of an argument that the
/// spec does not name in wants_contiguous.
std::optional<Judgement> note_of_refused_layout(const Spec& spec, const Raised& raised);

}  // namespace opgate
