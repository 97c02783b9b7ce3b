// An operator that says in words that it does not take a layout.
#pragma once

#include <optional>
#include <string>

#include "judging/verdict.h"
#include "spec/spec.h"

namespace opgate {

/// A note where the spec is a draft and the message names the layout ("x must be contiguous", an alignment):
/// nobody has promised that the operator takes it. None for other messages, and for finished specs, where an
/// operator takes every layout of an argument that the spec does not name in wants_contiguous.
std::optional<Judgement> note_of_refused_layout(const Spec& spec, const std::string& message);

}  // namespace opgate
