// The part of the tool `stream` that watches kernels: it notes which memory a launch accesses. The runtime
// compares the accesses of operations.
#pragma once

#include <memory>

#include "watch/tool.h"
#include "watch/watched_launch.h"

namespace opgate::simulator {

std::unique_ptr<Tool> make_stream_tool(const WatchedLaunch& launch);

}  // namespace opgate::simulator
