// What every translated kernel begins with.
#pragma once

namespace opgate::simulator {

/// C: types, the context of a thread, and instructions that are too long for one expression.
extern const char* const kPrelude;

}  // namespace opgate::simulator
