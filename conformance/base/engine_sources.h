// What this engine was made from.
#pragma once

#include <string_view>

namespace opgate {

/// SHA-1 over the C++ and CUDA sources of all that gives verdicts: equal on two machines where they were
/// built from the same ones, whatever the compiler made of them.
std::string_view engine_sources();

}  // namespace opgate
