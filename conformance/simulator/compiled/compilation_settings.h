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
  std::string compiler;  ///< a C compiler; empty: $OPGATE_SIM_CC, or the first of cc, gcc and clang

  /// OPGATE_SIM_COMPILE: never, always or automatic. Throws std::runtime_error for any other word.
  static CompilationSettings from_environment();
};

}  // namespace opgate::simulator
