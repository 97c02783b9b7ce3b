// Readers of the effects that instructions of several groups have. Others are in the file of their group.
#pragma once

#include "ptx/effect.h"

namespace opgate::simulator {

/// It computes results.
Effect no_effect(const Modifiers& words);

/// `.cta`, `.cluster`; the device for all others.
Scope scope_of(const Modifiers& words);

/// An access of each thread to elements that lie in registers: its space, type, order and scope.
Effect effect_of_access(const Modifiers& words, Effect::Kind kind);

/// Those of forms of an opcode that are in another file.
Effect effect_of_async_store(const Modifiers& words);  // st.async and red.async
Effect effect_of_mbarrier(const Modifiers& words);     // cp.async.mbarrier, too

/// An effect with nothing but its kind.
template <Effect::Kind kind>
Effect effect_of(const Modifiers&) {
  return {.kind = kind};
}

}  // namespace opgate::simulator
