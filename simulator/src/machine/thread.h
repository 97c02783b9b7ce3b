// One thread of a simulated kernel.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "machine/copy_queue.h"
#include "machine/launches/launch.h"
#include "machine/memory/local_memory.h"
#include "ptx/instruction.h"
#include "ptx/program.h"

namespace opgate::simulator {

class Block;
class StateDigest;

/// Does a collective for the threads of the mask, whose lanes are given.
using Collective = void (*)(Thread* const* lanes, std::uint32_t mask);

class Thread {
 public:
  enum class State : std::uint8_t {
    running,
    yields,
    at_barrier,
    at_cluster,
    at_collective,
    at_active_mask,
    exited
  };

  // What handlers use in every instruction is public and comes first.
  std::uint64_t* registers = nullptr;  ///< of the current frame
  const Instruction* next = nullptr;
  State state = State::running;
  bool carry = false;                 ///< CC.CF of the extended-precision instructions
  bool is_followed = false;           ///< whether the observer executes all of its instructions
  std::uint32_t collective_mask = 0;  ///< the threads that it waits for, with `state` at_collective
  Collective collective = nullptr;    ///< what it waits for
  Block* block = nullptr;

  Extent index;
  unsigned linear = 0;  ///< index in the block
  unsigned lane = 0;
  std::uint64_t cluster_phase = 0;  ///< of `barrier.cluster`, in which it has arrived; 0: in none
  CopyQueue copies;                 ///< of `cp.async`
  CopyQueue bulk_copies;            ///< of `cp.async.bulk`, those from shared memory

  /// Begins with the kernel of the block's launch. With `has_registers` false, only its constants are sure to
  /// be in their slots: compiled code sets the others.
  void start(Block& of, unsigned linear_index, const Extent& at, bool has_registers = true);

  bool is_at_end_of_turn() const {
    return function().turn_ends[static_cast<std::size_t>(next - function().code.data())];
  }

  bool has_exited() const { return state == State::exited; }

  /// The instruction that is being executed, or at which the thread waits.
  const Instruction& current() const { return next[-1]; }

  const Function& function() const { return *frames_.back().function; }

  /// Whether the guard of the instruction does not hold.
  bool leaves_out(const Instruction& instruction) const {
    return instruction.guard >= 0 &&
           ((registers[instruction.guard >> 1] ^ static_cast<std::uint64_t>(instruction.guard)) & 1) == 0;
  }

  void branch(std::int64_t target) { next = function().code.data() + target; }
  void call(const Call& call);
  void leave_function();
  /// What compiled code leaves to do of a call, and of the return from such a function: arguments and results
  /// are where they belong.
  void follow_call(const Function& function, const Instruction& call);
  void follow_return();
  /// Ends the thread. Copies that it has begun happen now at the latest.
  void exit();

  /// What it has run, after it has exited. It keeps its memory for another kernel.
  void forget();

  /// For a thread that waits at the barrier of the cluster. True if it goes on.
  bool leave_cluster_barrier_if_complete();

  /// What a slot of its frame holds that depends on the thread, the block or the launch.
  std::uint64_t value_of(const FrameValue& value) const;

  /// Adds what decides how it goes on: its place, its registers, its local memory and its copies.
  void add_to(StateDigest& digest);

  /// How many functions it is in, with the kernel.
  std::size_t depth() const { return frames_.size(); }

  /// Where the slots of its frame begin among those of all its frames.
  std::size_t first_register() const { return frames_.back().registers; }

  /// Those of the kernel, and the end of the memory for slots.
  std::uint64_t* first_registers() { return slots_.data(); }
  std::uint64_t* end_of_registers() { return slots_.data() + slots_.size(); }
  /// How many further functions it may call within each other.
  std::size_t frames_left() const;

  std::uint64_t local_base() const { return frames_.back().local; }
  LocalMemory& local_memory() { return local_; }

 private:
  struct Frame {
    const Function* function = nullptr;
    const Call* call = nullptr;         ///< how it was called; null for the kernel
    const Instruction* back = nullptr;  ///< where its caller goes on
    std::size_t registers = 0;          ///< where its slots begin in `slots_`
    std::size_t local = 0;              ///< where its local memory begins
  };

  Frame frame_of(const Function& function, const Call* call) const;
  void enter(const Function& function, const Call* call);
  void start_again(const Function& kernel);
  void set_frame_values(const Function& function);
  void hand_over(const Argument& from, const Frame& source, const Argument& to, const Frame& target);

  std::vector<Frame> frames_;
  std::vector<std::uint64_t> slots_;  ///< of all frames, and room for more
  LocalMemory local_;
};

}  // namespace opgate::simulator
