// A digest of the sources that this engine was built from.
#pragma once

#include <string_view>

namespace opgate {

/// SHA-1 over the C++ and CUDA sources of everything that decides verdicts. Two machines that build from
/// the same sources get the same digest, even if their compilers produce different binaries.
std::string_view engine_sources();

}  // namespace opgate
