// The tool `init`: loads of memory that was not written, if their values matter.
#include <memory>

#include "watch/init/init_of_block.h"
#include "watch/tool.h"
#include "watch/watched_launch.h"

namespace opgate::simulator {
namespace init_tool {

class InitTool final : public Tool {
 public:
  explicit InitTool(const WatchedLaunch& launch) : launch_(launch) { launch.observer.loads().begin_launch(); }

  std::unique_ptr<BlockTool> watch_block(BlockWatch& block) override {
    return std::make_unique<InitOfBlock>(launch_, block);
  }

 private:
  const WatchedLaunch& launch_;
};

}  // namespace init_tool

std::unique_ptr<Tool> make_init_tool(const WatchedLaunch& launch) {
  return std::make_unique<init_tool::InitTool>(launch);
}

}  // namespace opgate::simulator
