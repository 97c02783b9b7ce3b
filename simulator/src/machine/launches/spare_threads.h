// Threads of blocks that have ended, for blocks of later launches: making the registers of each thread anew
// takes longer than many a kernel runs.
#pragma once

#include <cstddef>
#include <vector>

#include "machine/thread.h"

namespace opgate::simulator {

/// So many threads, none of which has begun.
std::vector<Thread> take_threads(std::size_t count);

/// For threads that have all exited.
void keep_threads(std::vector<Thread> threads);

}  // namespace opgate::simulator
