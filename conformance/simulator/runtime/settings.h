// What environment variables say about the simulated devices. They are read once, when the first CUDA function is called; where
// one has a value that it cannot have, or a name that is none, the process says so and ends.
// OPGATE_SIM_COMPILE, OPGATE_SIM_CACHE and OPGATE_SIM_CC, which say how kernels are executed, are those of
// CompilationSettings in simulator/compiled/compilation_settings.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "simulator/watch/tools.h"

namespace opgate::simulator {

struct Settings {
  /// OPGATE_SIM_DEVICES: how many devices there are, 1 to 8. Two by default, so that code which mixes devices is noticed.
  int devices = 2;

  /// OPGATE_SIM_ARCH: the compute capability without its dot (80, 86, 89, 90, 100, 120). It chooses the limits of a launch
  /// and the PTX of a fat binary.
  unsigned architecture = 90;

  /// OPGATE_SIM_MEMORY: megabytes of each device.
  std::size_t memory_bytes = std::size_t{16} << 30;

  /// OPGATE_SIM_EAGER=1: every operation runs when it is issued. By default it runs as late as a device may run it.
  bool eager = false;

  /// OPGATE_SIM_FILL: the byte that new device memory holds. 0xFF makes a NaN in every floating-point type.
  unsigned char fill = 0xFF;

  /// OPGATE_SIM_INSTRUCTIONS: the PTX instructions that one launch may execute before it times out; 0: no limit.
  std::uint64_t instruction_limit = 0;

  /// OPGATE_SIM_SHUFFLE: a seed of the orders in which the blocks of each launch begin; 0: always by their indices.
  std::uint64_t shuffle = 1;

  /// OPGATE_SIM_LOG=1: modules, launches and copies are written to stderr.
  bool log = false;

  /// OPGATE_SIM_RECOVER=1: after a kernel has faulted, one function fails with its error, and the devices work again. By default
  /// all later functions fail, as on a GPU, where the process must end.
  bool recover = false;

  /// OPGATE_SIM_ATEN_AT_ONCE=1: ATen's operators run when they are called, and not in the order of their stream.
  bool aten_at_once = false;

  /// OPGATE_SIM_TOOLS: which of `init`, `race`, `sync` and `stream` watch, with commas between them.
  Tools tools;
};

/// Ends the process with exit status 2 where wrong_settings() are any.
const Settings& settings();

/// What is wrong with the variables, and what they may be: "OPGATE_SIM_FILL=256: give a number from 0 to 255".
std::vector<std::string> wrong_settings();

}  // namespace opgate::simulator
