// What ends a kernel before its end.
#pragma once

#include <cstdint>
#include <string>

#include "simulator/machine/launch.h"

namespace opgate::simulator {

/// Thrown while a kernel runs, and caught where its launch ends.
struct KernelFault {
  Fault fault = Fault::none;
  std::string message;
};

std::string hexadecimal(std::uint64_t value);

/// "(3, 0, 0)"
std::string in_words(const Extent& index);

/// "3,0,0"
std::string in_short(const Extent& index);

}  // namespace opgate::simulator
