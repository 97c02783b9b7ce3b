// One launch that is watched: it executes instructions in place of the interpreter, and tells the tools.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "machine/launch.h"
#include "machine/launch_observer.h"
#include "machine/thread.h"
#include "watch/async_watch.h"
#include "watch/cluster_watch.h"
#include "watch/findings.h"
#include "watch/init/unwritten_loads.h"
#include "watch/init/written_bits.h"
#include "watch/observer.h"
#include "watch/race/held_copies.h"
#include "watch/race/launches_in_flight.h"
#include "watch/race/proxy_fences.h"
#include "watch/race/race_detector.h"

namespace opgate::simulator {

class Barrier;
struct Call;
struct OperandForm;
struct Program;

/// What the tools know of a block while it runs.
struct BlockWatch {
  BlockRaces races;
  WrittenBits shared;
  std::vector<WrittenBits> local;              ///< of each thread
  std::vector<std::vector<Unwritten>> values;  ///< of the registers of each thread that is followed
  AsyncWatch async;
  ProxyFences proxy_fences;
  std::shared_ptr<ClusterWatch> cluster;
  std::size_t cluster_arrivals = 0;                              ///< in this phase
  std::vector<std::shared_ptr<const Release>> cluster_releases;  ///< what they knew
};

/// Where a frame of a thread begins in its registers and in its local memory.
struct FramePlace {
  std::size_t registers = 0;
  std::size_t local = 0;

  static FramePlace of(const Thread& thread) { return {thread.first_register(), thread.local_base()}; }
};

/// An access of the thread to an address in the space of the annotation.
inline WatchedAccess access_to(const Thread& thread, const Annotation& how, std::uint64_t address) {
  WatchedAccess access{&how, how.space, address, thread.linear};
  if (access.space == Space::generic) {
    access.space = space_of(access.address);
    access.address -= window_of(access.space);
  }
  if (access.space != Space::global) access.address &= 0xffffffffu;
  return access;
}

class LaunchWatch final : public LaunchObserver {
 public:
  /// The program must have its annotations.
  LaunchWatch(const Program& program, const Launch& launch);
  ~LaunchWatch() override;
  LaunchWatch(const LaunchWatch&) = delete;
  LaunchWatch& operator=(const LaunchWatch&) = delete;

  std::unique_ptr<BlockObserver> watch_block() override;
  void begin_memory(std::uint64_t address, std::size_t bytes) override;

  void begin_block(BlockWatch& block, const Extent& index, std::size_t shared_bytes);

  /// Executes an instruction of a thread that is followed, if its guard holds.
  void follow(BlockWatch& block, Thread& thread, const Instruction& instruction);

  /// Executes an instruction whose guard holds.
  void execute(BlockWatch& block, Thread& thread, const Instruction& instruction);

  /// All threads that the barrier is for have come, and are about to go on.
  void meet(BlockWatch& block, const Barrier& barrier, unsigned id, const std::vector<Thread>& threads);

  /// The thread has waited at the barrier of its cluster, and is about to go on.
  void leave_cluster_barrier(BlockWatch& block, Thread& thread);

  /// The lanes `here` of a warp execute together what is meant for those of the mask `named`.
  void meet_in_warp(BlockWatch& block, std::span<Thread* const> lanes, std::uint32_t here,
                    std::uint32_t named);

  /// Races that are mistakes only if results depend on the copies of an element; none of them is reported.
  HeldCopies& copies() { return copies_; }
  /// Reports them, since results do.
  void report_copies();

  /// Whether no two accesses of the launch have raced, not even if both store the same or copies.
  bool found_no_race() const { return races_met_ == 0; }
  /// Reports that results are others in another order of blocks and warps.
  void report_dependence_on_order();

 private:
  /// What the access reads of unwritten memory.
  Unwritten watch_access(BlockWatch& block, Thread& thread, const Instruction& instruction,
                         const WatchedAccess& access);
  void access_matrix(BlockWatch& block, Thread& thread, const Instruction& instruction);
  /// `block`: to which the memory belongs.
  Unwritten look_for_unwritten(BlockWatch& block, const Thread& thread, const WatchedAccess& access) {
    if (access.space == Space::shared) return look_in(block.shared, thread, access);
    if (access.space == Space::local) return look_in(block.local[thread.linear], thread, access);
    return look_in(memory_, thread, access);
  }
  template <class Memory>
  Unwritten look_in(Memory& memory, const Thread& thread, const WatchedAccess& access) {
    const Annotation& how = *access.annotation;
    Unwritten read;
    if (how.kind != Annotation::Kind::store) {
      const std::uint32_t bytes = memory.unwritten(access.address, how.bytes);
      if (bytes != 0) read = meet_unwritten(memory, thread, access, bytes);
    }
    if (how.kind != Annotation::Kind::load) memory.store(access.address, how.bytes);
    if (access.stored.bits != 0) store_unwritten(memory, thread, access);
    return read;
  }
  template <class Memory>
  Unwritten meet_unwritten(Memory& memory, const Thread& thread, const WatchedAccess& access,
                           std::uint32_t bytes);
  /// The loads that have met these bytes before.
  template <class Memory>
  std::uint32_t known_loads(Memory& memory, const WatchedAccess& access, std::uint32_t bytes);
  template <class Memory>
  void store_unwritten(Memory& memory, const Thread& thread, const WatchedAccess& access);
  Finding finding_of_load(const Thread& thread, const WatchedAccess& access, std::uint32_t bytes) const;

  Unwritten& value_in(BlockWatch& block, const Thread& thread, Slot slot) const;
  static const OperandForm& form_at(const Thread& thread, const Instruction& instruction);
  Unwritten sources_of(BlockWatch& block, const Thread& thread, const Instruction& instruction);
  void set_results(BlockWatch& block, const Thread& thread, const Instruction& instruction,
                   const Unwritten& value);
  void use(const Thread& thread, const Instruction& instruction, const Unwritten& value);
  bool is_hidden_by_zero(BlockWatch& block, const Thread& thread, const Instruction& in);
  void combine_bits(BlockWatch& block, Thread& thread, const Instruction& instruction, std::uint32_t loads,
                    const std::function<void()>& execute_once);
  void take_in(BlockWatch& block, Thread& thread, const Instruction& instruction, const Unwritten& read);
  Unwritten stored_by(BlockWatch& block, const Thread& thread, const Instruction& instruction);
  void follow_in_warp(BlockWatch& block, std::span<Thread* const> lanes, std::uint32_t here);
  void move_masks(BlockWatch& block, std::span<Thread* const> lanes, std::uint32_t here, std::uint32_t loads);
  void follow_integer_product(BlockWatch& block, std::span<Thread* const> lanes, std::uint32_t loads);
  void move_matrix(BlockWatch& block, std::span<Thread* const> lanes, std::uint32_t here);
  void follow_product(BlockWatch& block, std::span<Thread* const> lanes);
  void hand_over(BlockWatch& block, const Thread& thread, const std::vector<Argument>& from,
                 const FramePlace& source, const std::vector<Argument>& to, const FramePlace& target);
  void use_arguments(BlockWatch& block, Thread& thread, const Instruction& instruction);
  void use_printed(BlockWatch& block, Thread& thread, const Instruction& instruction);

  void consider_race(Thread& thread, const Instruction& instruction, const WatchedAccess& access,
                     const RaceDetector::Race& race);
  bool may_be_of_copies(const Thread& thread, const WatchedAccess& access,
                        const RaceDetector::Race& race) const;
  void keep_race_of_copies(const Thread& thread, const WatchedAccess& access, const RaceDetector::Race& race);
  void report_race(const Thread& thread, const WatchedAccess& access, const RaceDetector::Race& race,
                   const std::string& hint = {});
  Finding finding_of_race(const Thread& thread, const WatchedAccess& access, const RaceDetector::Race& race,
                          const std::string& hint) const;
  void call(BlockWatch& block, Thread& thread, const Instruction& instruction);
  void leave(BlockWatch& block, Thread& thread, const Instruction& instruction);
  const Call& mark_results(BlockWatch& block, const Thread& thread, const Instruction& of_call);
  void exit(BlockWatch& block, Thread& thread);

  void begin_copy(BlockWatch& block, Thread& thread, const Instruction& instruction);
  void begin_bulk_copy(BlockWatch& block, Thread& thread, const Instruction& instruction);
  void begin_tensor_copy(BlockWatch& block, Thread& thread, const Instruction& instruction);
  void read_source(BlockWatch& block, Thread& thread, const Instruction& instruction, WatchedCopy& copy);
  void wait_for_copies(BlockWatch& block, Thread& thread, const Instruction& instruction);
  void settle_copies(BlockWatch& block, Thread& thread, std::uint32_t clock);
  void finish_copy(BlockWatch& block, WatchedCopy& copy, std::uint32_t clock);
  void finish_reading(BlockWatch& block, WatchedCopy& copy);

  void begin_product(BlockWatch& block, Thread& thread, const Instruction& instruction);
  void read_of_product(BlockWatch& block, Thread& thread, const WatchedProduct& product);
  void wait_for_products(BlockWatch& block, Thread& thread, const Instruction& instruction);
  void use_registers(BlockWatch& block, const Thread& thread, const Instruction& instruction);
  void report_copies(BlockWatch& block, const Thread& thread, const Instruction& instruction);
  void report_use_in_flight(const Thread& thread, std::uint32_t site, const RegisterInFlight& used);
  void report_product(const Thread& thread, std::uint32_t site, std::uint32_t other,
                      const std::string& message);
  void look_for_proxy_fence(BlockWatch& block, const Thread& thread, const WatchedAccess& access);

  void use_mbarrier(BlockWatch& block, Thread& thread, const Instruction& instruction);
  void keep_promises(BlockWatch& block, std::uint64_t place);
  void keep(BlockWatch& block, WatchedPromise& promise);
  std::shared_ptr<const Release> snapshot(BlockWatch& block, const Thread& thread) const;

  void join_cluster(BlockWatch& block, const Extent& index);
  void arrive_in_cluster(BlockWatch& block, Thread& thread, const Instruction& instruction);
  void release_to_cluster(BlockWatch& block);
  BlockWatch* owner_of(BlockWatch& block, const Thread& thread, const WatchedAccess& access) const;
  std::uint64_t in_own_block(const Thread& thread, const Instruction& instruction,
                             std::uint64_t address) const;

  void check_barrier(const Barrier& barrier, const std::vector<Thread>& threads);
  void check_mask(std::span<Thread* const> lanes, std::uint32_t here, std::uint32_t named);

  FindingPlace place_of(const Thread& thread, std::uint32_t site) const;
  bool is_in_block_of(const Thread& thread, const AccessRecord& access) const;
  void add(Finding finding);

  const Program& program_;
  const Launch& launch_;
  const Tools tools_;
  Findings& findings_;
  Observer& observer_;
  UnwrittenLoads& loads_;
  WrittenMemory& memory_;
  AccessedMemory& accessed_;
  std::unordered_map<std::uint64_t, std::weak_ptr<ClusterWatch>> clusters_;  ///< by their linear indices
  LaunchesInFlight only_this_launch_;  ///< for one without launches before it
  LaunchesInFlight& in_flight_;
  RaceDetector& races_;
  HeldCopies copies_;
  std::uint64_t races_met_ = 0;
};

}  // namespace opgate::simulator
