// The random generator that operators draw from if they are not given one.
#pragma once

#include <c10/core/Device.h>

namespace opgate {

/// Seeds the default generator of `device` with a fixed seed, so that a call that draws from it can be
/// repeated. A device without an index means the first device of its type.
void seed_default_generator(c10::Device device);

}  // namespace opgate
