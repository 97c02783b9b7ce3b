// The tool `sync`: barriers that not all threads reach, masks that name absent threads, and registers of
// `wgmma` products that are used while the products are in flight.
#pragma once

#include <memory>

#include "watch/tool.h"
#include "watch/watched_launch.h"

namespace opgate::simulator {

std::unique_ptr<Tool> make_sync_tool(const WatchedLaunch& launch);

}  // namespace opgate::simulator
