// Decides whether blocks of a kernel may run at the same time.
#pragma once

#include <string>

#include "simulator/ptx/program.h"

namespace opgate::simulator {

/// What keeps the blocks of the kernel on one thread of the host: an instruction whose result, or what it does,
/// may depend on the order in which blocks run ("atom.global.add.u32, whose result is used"). Empty if there is
/// none. Races between plain accesses of two blocks are not looked for.
std::string why_one_thread(const Program& program);

}  // namespace opgate::simulator
