// The random generator that operators draw from if they are not given one.
#pragma once

#include <c10/core/Device.h>

#include <cstdint>

namespace opgate {

/// The seed of calls that do not ask for another one.
inline constexpr uint64_t kSeedOfCalls = 20160816;

/// Seeds the default generator of `device`, so that a call that draws from it can be repeated. A device
/// without an index means the first device of its type.
void seed_default_generator(c10::Device device, uint64_t seed = kSeedOfCalls);

}  // namespace opgate
