// The functions of opgate_sim.h, of the runtime that the process has loaded. A library must not link it,
// because that would bring a second one along.
#pragma once

#include <dlfcn.h>
#include <opgate_sim.h>

/// The function of opgate_sim.h of that name; null if CUDA is not simulated in this process.
#define OPGATE_SIMULATED(name) reinterpret_cast<decltype(&(name))>(dlsym(RTLD_DEFAULT, #name))
