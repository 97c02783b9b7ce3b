// The tool `init`: loads of memory that was not written, if their values matter.
#pragma once

#include <memory>

#include "watch/tool.h"
#include "watch/watched_launch.h"

namespace opgate::simulator {

std::unique_ptr<Tool> make_init_tool(const WatchedLaunch& launch);

}  // namespace opgate::simulator
