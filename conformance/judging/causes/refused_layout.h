// An operator that refuses a layout, in words or without any.
#pragma once

#include <optional>

#include "call/invoke.h"
#include "judging/verdict.h"

namespace opgate {

struct Spec;

/// A note where the spec is a draft and the message names the layout ("x must be contiguous", an alignment),
/// or is empty, as that of `assert x.is_contiguous()`: a draft does not promise that the operator takes every
/// layout. None for other messages, and for finished specs, which promise it for each argument that
/// wants_contiguous does not name.
std::optional<Judgement> note_of_refused_layout(const Spec& spec, const Raised& raised);

}  // namespace opgate
