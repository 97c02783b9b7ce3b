// Functions of the runtime and the driver that are not simulated. The build writes a definition for each name
// in the lists functions.txt. It is weak, so that one of the simulator's own takes its place.
#pragma once

namespace opgate::simulator {

/// Reports the name once: a program that uses such a function does not go on with a result that nothing
/// computed. Returns cudaErrorNotSupported, and keeps it as the last error.
int unsupported_in_runtime(const char* function);

/// The same for the driver, which keeps no last error. Returns CUDA_ERROR_NOT_SUPPORTED.
int unsupported_in_driver(const char* function);

}  // namespace opgate::simulator

// The parameters do not matter, and the headers of CUDA, which declare others, are not included. `text` is
// the name by which a program knows the function.
#define OPGATE_SIM_UNSUPPORTED_AS(library, name, text)                 \
  extern "C" __attribute__((visibility("default"), weak)) int name() { \
    return opgate::simulator::unsupported_in_##library(text);          \
  }
#define OPGATE_SIM_UNSUPPORTED(library, name) OPGATE_SIM_UNSUPPORTED_AS(library, name, #name)
