// One launch of a kernel: what its blocks share, and in which order they run.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "machine/block.h"
#include "machine/launches/block_order.h"
#include "machine/launches/compiled_thread.h"
#include "machine/launches/launch.h"
#include "machine/launches/recurrence.h"
#include "machine/launches/spread_blocks.h"
#include "ptx/program.h"

namespace opgate::simulator {

class LaunchObserver;
class ProgressListener;
struct KernelFault;

class Grid {
 public:
  /// `observer` is null if nothing watches the launch. A launch that is watched must not run in compiled
  /// code.
  Grid(const Program& program, const Launch& launch, DeviceMemory& memory, ProgressListener& listener,
       LaunchObserver* observer);
  Grid(const Grid&) = delete;
  Grid& operator=(const Grid&) = delete;

  Outcome run();

  /// Whether other threads run blocks of the launch at the same time.
  bool is_spread() const { return spread_ != nullptr; }

  const Program& program() const { return program_; }
  const Launch& launch() const { return launch_; }

  LaunchObserver* observer() { return observer_; }

  /// Where the host can access global memory. Throws KernelFault if it is not allowed to. `site` is that
  /// of the instruction: what was allowed before needs no question to DeviceMemory.
  unsigned char* global(std::uint32_t site, std::uint64_t address, std::size_t bytes, Access access,
                        const std::string& text) {
    const Window& window = windows_[site];
    const std::uint64_t offset = address - window.begin;
    if (offset < window.bytes && bytes <= window.bytes - offset) return window.host + offset;
    return ask(site, address, bytes, access, text);
  }

  /// `malloc` of a thread: 0 if the heap has no more.
  std::uint64_t allocate(std::size_t bytes);
  /// `free` of a thread. Throws KernelFault if nothing that is in use begins at the address. `text` is that
  /// of the instruction.
  void release(std::uint64_t address, const std::string& text);

  const Window& window(std::uint32_t site) const { return windows_[site]; }

  /// Cycles and nanoseconds at once. Each look at the clock lets time pass, so that a kernel that waits for
  /// it comes to an end.
  std::uint64_t look_at_clock() {
    ++looks_at_clock_;
    return clock_ += kTimeOfOneLook;
  }
  void let_pass(std::uint64_t nanoseconds) { clock_ += nanoseconds; }

  /// How many instructions a thread may execute next: `most`, or fewer where the launch has a limit. Throws
  /// where it is reached.
  std::uint64_t turn(std::uint64_t most) const {
    return launch_.instruction_limit == 0 ? most : turn_within_limit(most);
  }
  /// How many instructions are left of the limit.
  std::uint64_t left() const {
    const std::uint64_t limit = launch_.instruction_limit;
    return limit == 0 ? ~std::uint64_t{0} : limit - std::min(limit, instructions_);
  }
  /// Compiled code does not look at the limit. Near to it, everything is interpreted.
  std::uint64_t reserve() const { return reserve_; }
  bool may_run_compiled() const { return left() >= reserve_; }
  void count(std::uint64_t instructions) {
    instructions_ += instructions;
    clock_ += instructions;
  }

  /// For compiled code that is about to run a thread of this block.
  CompiledContext& context(Block& block) {
    enter_block(context_, block);
    return context_;
  }

 private:
  static constexpr std::uint64_t kTimeOfOneLook = 1000;

  unsigned char* ask(std::uint32_t site, std::uint64_t address, std::size_t bytes, Access access,
                     const std::string& text);
  std::uint64_t turn_within_limit(std::uint64_t most) const;
  bool begin_next();
  void begin_cluster(std::uint64_t linear, std::uint32_t number);
  Outcome run_all();
  bool run_next();
  bool is_endless();
  std::string not_begun_in_words() const;
  bool may_spread() const;
  Outcome run_spread(unsigned threads);
  void share(SpreadBlocks& blocks, std::size_t room);
  void leave_out_behind_fault();
  Outcome outcome_of(const KernelFault& fault) const;

  const Program& program_;
  const Launch& launch_;
  DeviceMemory& memory_;
  ProgressListener& listener_;
  LaunchObserver* observer_;
  std::uint64_t reported_ = 0;  ///< how many instructions had been executed when the listener was last called
  std::vector<Window> windows_;
  CompiledContext context_;
  std::uint64_t reserve_ = 0;
  std::uint64_t clock_ = 0;
  std::uint64_t looks_at_clock_ = 0;
  std::uint64_t instructions_ = 0;
  BlocksToBegin waiting_;                         ///< clusters
  std::uint32_t begun_ = 0;                       ///< blocks
  std::vector<Extent> first_begun_;               ///< of them, if the launch is watched
  std::vector<std::unique_ptr<Block>> resident_;  ///< have begun, and wait for other blocks or for time
  std::vector<std::unique_ptr<Block>> idle_;
  Block* running_ = nullptr;
  std::size_t next_ = 0;  ///< of the resident blocks, the one that goes on next
  bool may_begin_ = true;
  std::size_t cheap_;            ///< so many resident blocks do not take much memory
  std::size_t room_;             ///< how many may be resident for now
  std::size_t most_resident_;    ///< and at all
  std::size_t without_end_ = 0;  ///< turns since a block has ended
  Recurrence recurrence_;
  SpreadBlocks* spread_ = nullptr;  ///< instead of `waiting_`
  std::vector<NextBlock> taken_;    ///< from it; the next one is the last
};

}  // namespace opgate::simulator
