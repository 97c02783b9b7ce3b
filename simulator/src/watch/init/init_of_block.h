// The tool `init` in one block: which bytes of its memory were written, and what is known of the registers of
// threads that are followed.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <unordered_map>
#include <vector>

#include "watch/block_watch.h"
#include "watch/init/unwritten_loads.h"
#include "watch/init/written_bits.h"
#include "watch/init/written_memory.h"
#include "watch/tool.h"
#include "watch/watched_launch.h"

namespace opgate::simulator {

class InitOfBlock final : public BlockTool {
 public:
  InitOfBlock(const WatchedLaunch& launch, BlockWatch& block)
      : launch_(launch), block_(block), loads_(launch.observer.loads()), memory_(launch.observer.memory()) {}

  void begin(const Extent& index, std::size_t shared_bytes) override;
  bool follow(Thread& thread, const Instruction& instruction) override;

  void access(Thread& thread, const Instruction& instruction, const WatchedAccess& access,
              BlockTool& owner) override;
  void end_fragment(Thread& thread, const Instruction& instruction) override;
  void read_of_copy(const WatchedCopy& copy, std::uint32_t offset, const WatchedAccess& access) override;
  void finish_writing(const WatchedCopy& copy, std::uint32_t offset, const WatchedAccess& access) override;
  void end_async(const AsyncOperation& operation) override { carried_.erase(operation.number); }
  void read_of_product(const WatchedProduct& product, const WatchedAccess& access) override;
  void meet_in_warp(std::span<Thread* const> lanes, std::uint32_t here, std::uint32_t named) override;

  void call(Thread& thread, const Call& call, const FramePlace& caller) override;
  void return_from(Thread& thread, const Function& function, const FramePlace& called) override;
  void begin_host_call(Thread& thread, const Instruction& instruction) override;
  void end_host_call(Thread& thread, const Instruction& instruction) override;

 private:
  // What an access does, whose address is in the memory of this block. It gives what is read of unwritten
  // memory.
  Unwritten look(const Thread& thread, const WatchedAccess& access, const Unwritten& stored);
  template <class Memory>
  Unwritten look_in(Memory& memory, const Thread& thread, const WatchedAccess& access,
                    const Unwritten& stored);
  template <class Memory>
  Unwritten meet_unwritten(Memory& memory, const Thread& thread, const WatchedAccess& access,
                           std::uint32_t bytes);
  /// The loads that have met these bytes of shared memory before.
  std::uint32_t known_loads(std::uint32_t site, std::uint64_t address, std::uint32_t bytes);
  template <class Memory>
  void store_unwritten(Memory& memory, const Thread& thread, const WatchedAccess& access,
                       const Unwritten& stored);
  Finding finding_of_load(const Thread& thread, const WatchedAccess& access, std::uint32_t bytes) const;

  // Between memory and registers.
  void take_in(Thread& thread, const Instruction& instruction, const Unwritten& read);
  Unwritten stored_by(const Thread& thread, const Instruction& instruction);
  Unwritten stored_element(const Thread& thread, const Instruction& instruction, const WatchedAccess& access);
  void hand_over(const Thread& thread, const std::vector<Argument>& from, const FramePlace& source,
                 const std::vector<Argument>& to, const FramePlace& target);
  const Call& mark_results(const Thread& thread, const Instruction& of_call);
  void use_printed(Thread& thread, const Instruction& instruction);

  // Registers.
  Unwritten& value_in(const Thread& thread, Slot slot);
  Unwritten sources_of(const Thread& thread, const Instruction& instruction);
  void set_results(const Thread& thread, const Instruction& instruction, const Unwritten& value);
  void use(const Thread& thread, const Instruction& instruction, const Unwritten& value);
  bool is_hidden_by_zero(const Thread& thread, const Instruction& in);
  void combine_bits(Thread& thread, const Instruction& instruction, std::uint32_t loads,
                    const std::function<void()>& execute_once);

  // Instructions of warps.
  void move_masks(std::span<Thread* const> lanes, std::uint32_t here, std::uint32_t loads);
  void follow_integer_product(std::span<Thread* const> lanes, std::uint32_t loads);
  void move_matrix(std::span<Thread* const> lanes, std::uint32_t here);
  void follow_product(std::span<Thread* const> lanes);

  /// An element of a fragment that a thread has loaded from unwritten memory.
  struct Element {
    std::uint32_t number = 0;
    unsigned bytes = 0;
    Unwritten read;
  };

  const WatchedLaunch& launch_;
  BlockWatch& block_;
  UnwrittenLoads& loads_;
  WrittenMemory& memory_;
  WrittenBits shared_;
  std::vector<WrittenBits> local_;              ///< of each thread
  std::vector<std::vector<Unwritten>> values_;  ///< of the registers of each thread that is followed
  std::unordered_map<std::uint64_t, std::vector<CarriedBytes>> carried_;  ///< by copies, by their numbers
  std::vector<Element> fragment_;                                         ///< of the thread that accesses one
  std::uint32_t elements_ = 0;                                            ///< of that fragment
};

}  // namespace opgate::simulator
