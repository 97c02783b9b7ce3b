// One block of a grid: its threads, shared memory and barriers, and in which order the threads run.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "machine/barrier.h"
#include "machine/cluster.h"
#include "machine/launches/compiled_code.h"
#include "machine/launches/launch.h"
#include "machine/mbarrier.h"
#include "machine/product_queue.h"
#include "machine/thread.h"
#include "ptx/program.h"

namespace opgate::simulator {

class BlockObserver;
class Grid;
class StateDigest;
struct Together;

constexpr unsigned kWarpSize = 32;
constexpr unsigned kBarriers = 16;

/// Instructions. A thread that runs longer may be waiting for another one, as at a lock.
constexpr int kTurnOfThread = 1 << 10;
/// How often a warp meets before the next one has its turn. One that meets more often may be waiting, as a
/// thread may.
constexpr int kTurnsOfWarp = 1 << 6;
/// How often barriers let threads of a block go on before that is as long as a turn of a thread: a block that
/// waits for another one may have a barrier in its loop.
constexpr unsigned kReleasesOfTurn = 1 << 6;

class Block {
 public:
  explicit Block(Grid& grid);
  ~Block();
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  /// `number`: see number().
  void start(const Extent& index, std::uint32_t number, std::shared_ptr<Cluster> cluster);
  /// All of its threads have exited.
  void end() { cluster_->end(rank_); }

  /// Compiled code lets a thread begin only when it needs one that can be interpreted or stopped.
  Thread& begin_thread(unsigned linear, const Extent& index, bool has_registers);

  /// Lets the threads run until all have exited (true), or until the block has had its share of the time or
  /// waits for other blocks of its cluster (false). Each thread runs until it waits for others, so that the
  /// order is always the same.
  bool run();

  Grid& grid() { return grid_; }
  const Launch& launch() const;
  const Program& program() const;
  const Extent& index() const { return index_; }
  Cluster& cluster() { return *cluster_; }
  /// In the cluster.
  std::size_t rank() const { return rank_; }
  /// Its number among the blocks of the launch, in the order in which they begin; from 1.
  std::uint32_t number() const { return number_; }
  /// How often it has run without ending.
  std::uint64_t turns_taken() const { return turns_taken_; }
  /// Adds what decides how its threads go on, except what they read from global memory.
  void add_to(StateDigest& digest);
  std::size_t threads_alive() const { return threads_.size() - exited_; }
  unsigned char* shared() { return shared_.data(); }
  std::size_t shared_bytes() const { return shared_.size(); }
  Barrier& barrier(unsigned id) { return barriers_[id]; }
  /// What copies will do to the objects of `mbarrier`.
  Promises& promises() { return promises_; }

  /// The products that a thread's warp has begun.
  ProductQueue& products_of(const Thread& thread) { return products_[thread.linear / kWarpSize]; }

  /// The kernel's frame values that are the same for all threads, in their order.
  const std::uint64_t* frame_values() const { return frame_values_.data(); }

  /// A thread that has begun, whose instruction is executed now.
  Thread& running_thread(std::size_t linear) {
    running_ = &threads_[linear];
    return threads_[linear];
  }

  /// The thread whose instruction is executed now.
  const Thread* running() const { return running_; }

 private:
  void start_threads();
  bool run_turn();
  bool run_warp(std::size_t first, std::size_t from);
  bool can_go_together(const Together& threads) const;
  void go_together(const Together& threads, int& turn);
  bool meet_again(const Together& threads, int& turn);
  void execute_together(const Together& threads, int& turn);
  bool stands_together(std::size_t first, std::size_t end) const;
  std::uint64_t step_together(std::size_t first, std::size_t end);
  std::size_t count_of_left_out(std::size_t first, const Instruction& instruction) const;
  bool meets_at_next(std::size_t first, std::size_t end) const;
  void execute_next_together(std::size_t first, int& turn);
  void execute_those_behind(std::size_t first, int& turn);
  void execute_in_warp(std::size_t first, const Instruction& collective);
  void settle_stop(std::size_t thread);
  void run_new_threads(std::size_t first, std::size_t end);
  void run_thread(Thread& thread);
  void take_turn(Thread& thread, std::int64_t left, bool is_entered);
  void interpret_turn(Thread& thread, std::uint64_t executed);
  void end_turn(Thread& thread, std::uint64_t executed);
  bool is_compiled() const { return kernel_.compiled != nullptr; }
  template <bool watched>
  [[gnu::noinline, gnu::aligned(64)]] void interpret(Thread& thread, std::int64_t& left);
  bool run_warps();
  bool settle_collectives(std::size_t first);
  bool waits_as_one(std::size_t first, std::size_t count) const;
  void meet_in_warp(std::span<Thread*> lanes, std::uint32_t here);
  bool settle_active_masks(std::size_t first);
  bool release_barriers();
  bool release_from_cluster();
  [[noreturn]] void report_deadlock();

  Grid& grid_;
  const Function& kernel_;
  Extent index_;
  std::vector<Thread> threads_;
  std::vector<unsigned char> shared_;
  std::array<Barrier, kBarriers> barriers_;
  Promises promises_;
  std::vector<ProductQueue> products_;  ///< of the warps
  std::vector<std::uint64_t> frame_values_;
  std::vector<std::uint64_t> stops_;  ///< of the threads, while they run together
  std::vector<std::uint64_t*> registers_of_;
  int turns_ = 0;              ///< how many a thread may use up before another block runs
  std::size_t not_begun_ = 0;  ///< the first thread that has not begun
  std::size_t exited_ = 0;
  bool yielded_ = false;   ///< whether a thread or a warp has used up its turn
  unsigned releases_ = 0;  ///< of barriers, since that was as long as a turn
  Thread* running_ = nullptr;
  std::uint32_t number_ = 0;
  std::uint64_t turns_taken_ = 0;
  std::shared_ptr<Cluster> cluster_;
  std::size_t rank_ = 0;
  bool waits_for_cluster_ = false;           ///< whether a thread does
  std::unique_ptr<BlockObserver> observer_;  ///< null if the launch is not watched
};

}  // namespace opgate::simulator
