// What libraries that take part in the simulation call. The functions are exported, and found by dlsym, so that such a library
// needs no other runtime.
#pragma once

#include <driver_types.h>

extern "C" {

/// Where the host can access what lies at a device address; the pointer itself where it is none of a device. The memory may
/// only be accessed in the order of its stream.
void* opgate_sim_host_view(const void* pointer);

/// Runs a function as an operation of a stream. Unlike a function of cudaLaunchHostFunc, it stands for a kernel: it may
/// access device memory, and call the runtime.
cudaError_t opgate_sim_launch(cudaStream_t stream, void (*function)(void*), void* data);

/// Such a function found a mistake: the device fails from now on with cudaErrorAssert.
void opgate_sim_fail(const char* message);

/// Whether OPGATE_SIM_ATEN_AT_ONCE and OPGATE_SIM_LOG are set.
int opgate_sim_aten_at_once();
int opgate_sim_log();
}
