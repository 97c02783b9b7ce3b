// The functions of the simulated device, which is loaded, and not linked.
#pragma once

#include <dlfcn.h>
#include <opgate_sim.h>

/// The function of opgate_sim.h of that name; null if CUDA is not simulated in this process.
#define OPGATE_SIMULATED(name) reinterpret_cast<decltype(&(name))>(dlsym(RTLD_DEFAULT, #name))
