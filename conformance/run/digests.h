// Digests of what was tested, and of the engine that tested it.
#pragma once

#include <string>

#include "run/protocol.h"

namespace opgate {

/// SHA-1 over setup.sources and the bytes of the operator and spec libraries.
std::string libraries_digest(const Setup& setup);

/// SHA-1 over the bytes of the library that holds this engine.
std::string engine_digest();

}  // namespace opgate
