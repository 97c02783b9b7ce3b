// The hook of opgate_sim_hook_ptx(), by which a program changes the PTX that the device reads.
#pragma once

#include <opgate_sim.h>

#include <string>

namespace opgate::simulator {

/// From now on this hook is asked; null: none.
void set_ptx_hook(const OpgateSimPtxHook* hook);

/// Another number after each call of set_ptx_hook(): modules with an older one must be read again.
unsigned ptx_hook_number();

/// The source that the device reads instead of this one.
std::string replaced_ptx(const std::string& ptx);

/// A kernel of a module with this source, before it was replaced, is launched.
void report_launch_of_ptx(const std::string& ptx, const std::string& kernel);

}  // namespace opgate::simulator
