// Torch's own kernels are not simulated: where torch is loaded, a library replaces them by those of the CPU.
#pragma once

namespace opgate::simulator {

/// Loads the library for the program's torch from the folder of this library, once, where the process has
/// loaded libtorch_cuda.so, or says that there is none. Must be called without the lock of the simulator.
void load_operators_of_torch();

}  // namespace opgate::simulator
