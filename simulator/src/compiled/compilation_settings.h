// What users decide about compiling kernels.
#pragma once

#include <cstdint>
#include <string>

namespace opgate::simulator {

/// Whether kernels are translated to C and compiled, which makes long launches faster. The results are the
/// same.
struct CompilationSettings {
  enum class When : std::uint8_t {
    never,
    always,
    automatic,  ///< where it takes less time than it saves
  };
  When when = When::automatic;
  std::string folder;    ///< where compiled kernels are kept; empty: $OPGATE_SIM_CACHE, or that of XDG
  unsigned threads = 0;  ///< over which a large launch may be spread; 0: as many as there are processors
  std::string compiler;  ///< a C compiler; empty: $OPGATE_SIM_CC, or the first of cc, gcc and clang

  /// OPGATE_SIM_COMPILE and OPGATE_SIM_THREADS. Throws std::runtime_error for a value that is not allowed.
  static CompilationSettings from_environment();
};

}  // namespace opgate::simulator
