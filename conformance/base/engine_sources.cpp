#include "base/engine_sources.h"

#include "base/engine_sources_digest.h"  // written by cmake/OpGateDigest.cmake

namespace opgate {

std::string_view engine_sources() { return kEngineSources; }

}  // namespace opgate
