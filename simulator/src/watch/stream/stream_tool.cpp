// The part of the tool `stream` that watches kernels: it notes which memory a launch accesses. The runtime
// compares the accesses of operations.
#include <memory>

#include "watch/stream/accessed_memory.h"
#include "watch/tool.h"
#include "watch/watched_launch.h"

namespace opgate::simulator {
namespace stream_tool {

class StreamOfBlock final : public BlockTool {
 public:
  explicit StreamOfBlock(AccessedMemory& accessed) : accessed_(accessed) {}

  void access(Thread& /*thread*/, const Instruction& /*instruction*/, const WatchedAccess& access,
              BlockTool& /*owner*/) override {
    const Annotation& how = *access.annotation;
    add(access, how.is_strong && how.scope == Scope::device);
  }
  void read_of_copy(const WatchedCopy& /*copy*/, std::uint32_t /*offset*/,
                    const WatchedAccess& access) override {
    add(access, /*is_strong=*/false);
  }
  void finish_writing(const WatchedCopy& copy, std::uint32_t /*offset*/,
                      const WatchedAccess& access) override {
    add(access, copy.reduces);
  }

 private:
  void add(const WatchedAccess& access, bool is_strong) {
    const Annotation& how = *access.annotation;
    if (access.space == Space::global)
      accessed_.add(access.address, how.bytes, how.kind != Annotation::Kind::load, is_strong, how.site);
  }

  AccessedMemory& accessed_;
};

class StreamTool final : public Tool {
 public:
  explicit StreamTool(const WatchedLaunch& launch) : accessed_(launch.observer.accessed()) {
    accessed_.start(launch.program);
  }

  std::unique_ptr<BlockTool> watch_block(BlockWatch& /*block*/) override {
    return std::make_unique<StreamOfBlock>(accessed_);
  }

 private:
  AccessedMemory& accessed_;
};

}  // namespace stream_tool

std::unique_ptr<Tool> make_stream_tool(const WatchedLaunch& launch) {
  return std::make_unique<stream_tool::StreamTool>(launch);
}

}  // namespace opgate::simulator
