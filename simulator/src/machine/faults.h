// What ends a kernel before its end.
#pragma once

#include <string>

#include "machine/launches/launch.h"

namespace opgate::simulator {

/// Thrown while a kernel runs, and caught where its launch ends.
struct KernelFault {
  Fault fault = Fault::none;
  std::string message;  ///< of an unsupported instruction: which one, and under which condition
};

}  // namespace opgate::simulator
