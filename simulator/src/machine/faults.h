// What ends a kernel before its end.
#pragma once

#include <string>

#include "machine/launches/launch.h"
#include "ptx/instruction.h"

namespace opgate::simulator {

/// Thrown while a kernel runs, and caught where its launch ends.
struct KernelFault {
  Fault fault = Fault::none;
  std::string message;  ///< of an unsupported instruction: which one, and under which condition
};

/// Throws the fault of an instruction: its text comes before what is wrong.
[[noreturn]] inline void fail(const Instruction& in, Fault fault, const std::string& what) {
  throw KernelFault{fault, *in.text + what};
}

}  // namespace opgate::simulator
