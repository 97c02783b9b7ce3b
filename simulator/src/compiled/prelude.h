// What every translated kernel begins with.
#pragma once

namespace opgate::simulator {

/// C: what instructions do (numbers/*_semantics.h), and the context of a thread (prelude.c). The build makes
/// one text of them.
extern const char* const kPrelude;

}  // namespace opgate::simulator
