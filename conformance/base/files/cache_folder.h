// Where OpGate keeps what it can make again.
#pragma once

#include <filesystem>

namespace opgate {

/// $XDG_CACHE_HOME/opgate or ~/.cache/opgate. Empty if neither XDG_CACHE_HOME nor HOME holds an absolute
/// path.
std::filesystem::path cache_folder();

}  // namespace opgate
