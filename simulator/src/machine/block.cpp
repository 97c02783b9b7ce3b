#include "machine/block.h"

#include <algorithm>
#include <bit>
#include <map>
#include <utility>

#include "machine/faults.h"
#include "machine/launches/block_order.h"
#include "machine/launches/compiled_thread.h"
#include "machine/launches/grid.h"
#include "machine/launches/launch_observer.h"
#include "machine/launches/scheduled_order.h"
#include "machine/launches/spare_threads.h"
#include "machine/state_digest.h"

namespace opgate::simulator {
namespace {

constexpr std::uint64_t kMostOverrun = std::uint64_t{1} << 40;
// A block in which a thread used up so many turns lets another one run: the threads may be waiting for it.
// Most blocks end before. One that has stopped before may still be waiting, and has few.
constexpr int kFirstTurnsOfBlock = 1 << 6;
constexpr int kTurnsOfBlock = 1;

}  // namespace

Block::Block(Grid& grid) : grid_(grid), kernel_(*grid.program().functions.front()) {
  threads_ = take_threads(grid.launch().block.count());
  products_.resize((threads_.size() + kWarpSize - 1) / kWarpSize);
  const Program& program = grid.program();
  const std::size_t fixed = program.signature.static_shared_bytes;
  const std::size_t dynamic = grid.launch().dynamic_shared_bytes;
  shared_.resize(dynamic == 0 ? fixed : program.dynamic_shared_offset + dynamic);
  if (grid.observer() != nullptr) observer_ = grid.observer()->watch_block();
}

Block::~Block() {
  if (exited_ == threads_.size()) keep_threads(std::move(threads_));
}

const Launch& Block::launch() const { return grid_.launch(); }

const Program& Block::program() const { return grid_.program(); }

void Block::start(const Extent& index, std::uint32_t number, std::shared_ptr<Cluster> cluster) {
  index_ = index;
  number_ = number;
  turns_taken_ = 0;
  cluster_ = std::move(cluster);
  const Extent& extent = launch().cluster;
  rank_ = linear_index({index.x % extent.x, index.y % extent.y, index.z % extent.z}, extent);
  cluster_->begin(rank_, *this);
  waits_for_cluster_ = false;
  exited_ = 0;
  turns_ = kFirstTurnsOfBlock;
  releases_ = 0;
  std::fill(shared_.begin(), shared_.end(), launch().fill);
  for (Barrier& barrier : barriers_) barrier.reset();
  promises_.reset();
  for (ProductQueue& products : products_) products = {};
  if (observer_ != nullptr) observer_->begin(index, shared_.size());
  if (!is_compiled()) {
    start_threads();
    return;
  }
  not_begun_ = 0;
  begin_thread(0, {0, 0, 0}, /*has_registers=*/false);
  frame_values_.clear();
  for (const FrameValue& value : kernel_.frame_values)
    frame_values_.push_back(threads_.front().value_of(value));
}

Thread& Block::begin_thread(unsigned linear, const Extent& index, bool has_registers) {
  running_ = &threads_[linear];
  running_->start(*this, linear, index, has_registers);
  return *running_;
}

void Block::start_threads() {
  not_begun_ = threads_.size();
  const Extent& extent = launch().block;
  unsigned linear = 0;
  for (Extent at{0, 0, 0}; at.z < extent.z; ++at.z) {
    for (at.y = 0; at.y < extent.y; ++at.y) {
      for (at.x = 0; at.x < extent.x; ++at.x) {
        begin_thread(linear++, at, /*has_registers=*/true);
      }
    }
  }
}

void Block::add_to(StateDigest& digest) {
  digest.add(number_);
  digest.add(shared_.data(), shared_.size());
  for (Thread& thread : threads_) thread.add_to(digest);
}

bool Block::run() {
  if (observer_ == nullptr) return run_turn();
  observer_->begin_turn();
  const bool has_ended = run_turn();
  observer_->end_turn();
  return has_ended;
}

bool Block::run_turn() {
  bool released = false;
  for (int used_up = 0; used_up < turns_;) {
    bool progress = false;
    yielded_ = false;
    const Together all{0, threads_.size(), kBlockTogether};
    if (released && can_go_together(all)) {
      int turn = 0;
      go_together(all, turn);
      progress = true;
    } else {
      progress = run_warps();
    }
    if (exited_ == threads_.size()) return true;
    released = release_barriers();
    progress |= released;
    if (released && ++releases_ >= kReleasesOfTurn) {
      releases_ = 0;
      yielded_ = true;
    }
    progress |= release_from_cluster();
    if (progress) {
      cluster_->note_progress();
    } else if (waits_for_cluster_ && cluster_->wait_for_others()) {
      return false;
    } else {
      report_deadlock();
    }
    if (!yielded_) continue;
    ++used_up;
    if (observer_ != nullptr) observer_->let_time_pass();
  }
  turns_ = kTurnsOfBlock;
  ++turns_taken_;
  return false;
}

// What run_thread does if nothing watches the thread and it has no compiled code. It has executed some
// instructions of its turn that nothing has counted.
inline void Block::interpret_turn(Thread& thread, std::uint64_t executed) {
  running_ = &thread;
  const std::uint64_t of_limit = grid_.left();
  if (of_limit != 0) grid_.count(std::min(executed, of_limit));
  if (of_limit != 0 && of_limit <= executed) {
    end_turn(thread, 0);
    return;
  }
  const auto turn = static_cast<std::int64_t>(grid_.turn(kTurnOfThread - executed));
  std::int64_t left = turn;
  try {
    interpret<false>(thread, left);
  } catch (const KernelFault&) {
    grid_.count(static_cast<std::uint64_t>(turn - left));
    throw;
  }
  end_turn(thread, static_cast<std::uint64_t>(turn - left));
}

inline void Block::end_turn(Thread& thread, std::uint64_t executed) {
  grid_.count(executed);
  if (thread.state == Thread::State::running) thread.state = Thread::State::yields;
  if (thread.state == Thread::State::exited) ++exited_;
}

bool Block::run_warps() {
  const std::size_t warps = (threads_.size() + kWarpSize - 1) / kWarpSize;
  const BlockOrder order = launch().schedule == nullptr
                               ? warp_order(launch(), warps, number_)
                               : BlockOrder::after(warps, first_warps(launch(), index_));
  bool progress = false;
  for (std::size_t i = 0; i < warps; ++i) {
    const std::size_t first = order.block(i) * kWarpSize;
    progress |= run_warp(first, first);
  }
  return progress;
}

// Threads before `from` have had their first turn.
bool Block::run_warp(std::size_t first, std::size_t from) {
  const std::size_t end = std::min(first + kWarpSize, threads_.size());
  const bool is_plain = observer_ == nullptr && !is_compiled();
  bool progress = false;
  for (int turn = 0; turn < kTurnsOfWarp; ++turn) {
    bool waits = false;
    const std::uint64_t steps = turn != 0 && is_plain ? step_together(first, end) : 0;
    if (not_begun_ < end) {
      run_new_threads(first, end);
      progress = true;
    } else if (const Together warp{first, end, kWarpTogether}; from == first && can_go_together(warp)) {
      go_together(warp, turn);
      progress = true;
    } else if (turn != 0 && meets_at_next(first, end)) {
      grid_.count(steps * kWarpSize);
      execute_next_together(first, turn);
      progress = true;
      continue;
    } else {
      for (std::size_t i = turn == 0 ? from : first; i < end; ++i) {
        if (threads_[i].state != Thread::State::running) continue;
        is_plain ? interpret_turn(threads_[i], steps) : run_thread(threads_[i]);
        progress = true;
      }
    }
    for (std::size_t i = first; i < end; ++i) {
      Thread& thread = threads_[i];
      if (thread.state == Thread::State::yields) {
        thread.state = Thread::State::running;
        yielded_ = true;
      }
      waits |= thread.state == Thread::State::at_collective || thread.state == Thread::State::at_active_mask;
    }
    if (!waits) return progress;
    // Which threads are active is answered last, when the others have had the time to come to the same place.
    if (!settle_collectives(first) && !settle_active_masks(first)) return progress;
    progress = true;
  }
  yielded_ = true;
  return progress;
}

void Block::run_new_threads(std::size_t first, std::size_t end) {
  CompiledContext& context = grid_.context(*this);
  not_begun_ = end;
  while (first < end) {
    if (!grid_.may_run_compiled()) {
      run_thread(begin_thread(static_cast<unsigned>(first), index_at(first, launch().block),
                              /*has_registers=*/true));
      ++first;
      continue;
    }
    try {
      run_fresh(context, first, end, grid_.left(), grid_.reserve(), kTurnOfThread);
    } catch (const KernelFault&) {
      grid_.count(context.budget_before - context.budget +
                  static_cast<std::uint64_t>(kTurnOfThread - context.left));
      throw;
    }
    grid_.count(context.budget_before - context.budget);
    exited_ += context.linear_index - first;
    for (; first < context.linear_index; ++first) threads_[first].state = Thread::State::exited;
    if (context.thread == nullptr) continue;
    take_turn(*context.thread, context.left, /*is_entered=*/true);
    ++first;
  }
}

void Block::run_thread(Thread& thread) {
  running_ = &thread;
  take_turn(thread, static_cast<std::int64_t>(grid_.turn(kTurnOfThread)), /*is_entered=*/false);
}

void Block::take_turn(Thread& thread, std::int64_t left, bool is_entered) {
  const std::int64_t turn = is_entered ? std::int64_t{kTurnOfThread} : left;
  try {
    if (is_entered) take_next(grid_.context(*this), thread);
    if (is_entered || (is_compiled() && grid_.may_run_compiled())) {
      run_compiled(grid_.context(*this), thread, left);
    } else if (observer_ != nullptr) {
      interpret<true>(thread, left);
    } else {
      interpret<false>(thread, left);
    }
  } catch (const KernelFault&) {
    grid_.count(static_cast<std::uint64_t>(turn - left));
    throw;
  }
  end_turn(thread, static_cast<std::uint64_t>(turn - left));
}

template <bool watched>
void Block::interpret(Thread& thread, std::int64_t& left) {
  // The limit of the launch may come before the turn can end.
  const std::uint64_t of_limit = grid_.left();
  const std::int64_t least =
      of_limit > kMostOverrun ? -std::int64_t{kMostOverrun} : left - static_cast<std::int64_t>(of_limit);
  const auto step = [&] {
    --left;
    const Instruction& instruction = *thread.next++;
    if constexpr (watched) {
      if (thread.is_followed) {
        observer_->follow(thread, instruction);
        return;
      }
    }
    if (thread.leaves_out(instruction)) return;
    if constexpr (watched) {
      if (instruction.annotation != nullptr) {
        observer_->execute(thread, instruction);
        return;
      }
    }
    instruction.execute(thread, instruction);
  };
  while (left > 0 && thread.state == Thread::State::running) step();
  while (left > least && thread.state == Thread::State::running && !thread.is_at_end_of_turn()) step();
}

// Whether all lanes of a warp wait for the same instruction, as they mostly do.
bool Block::waits_as_one(std::size_t first, std::size_t count) const {
  const Thread& thread = threads_[first];
  bool is_same = thread.state == Thread::State::at_collective;
  for (std::size_t i = first; i < first + count; ++i) {
    const Thread& other = threads_[i];
    is_same &= other.state == Thread::State::at_collective && other.next == thread.next &&
               other.collective == thread.collective && other.collective_mask == thread.collective_mask;
  }
  return is_same;
}

void Block::meet_in_warp(std::span<Thread*> lanes, std::uint32_t here) {
  const Thread& thread = *lanes[static_cast<std::size_t>(std::countr_zero(here))];
  running_ = lanes[static_cast<std::size_t>(std::countr_zero(here))];
  if (observer_ != nullptr) observer_->meet_in_warp(lanes, here, thread.collective_mask);
  thread.collective(lanes.data(), here);
  for (std::uint32_t left = here; left != 0; left &= left - 1)
    lanes[static_cast<std::size_t>(std::countr_zero(left))]->state = Thread::State::running;
}

bool Block::settle_collectives(std::size_t first) {
  const std::size_t count = std::min<std::size_t>(kWarpSize, threads_.size() - first);
  std::array<Thread*, kWarpSize> lanes;
  if (waits_as_one(first, count)) {
    for (std::size_t lane = 0; lane < kWarpSize; ++lane)
      lanes[lane] = lane < count ? &threads_[first + lane] : nullptr;
    meet_in_warp(std::span(lanes).first(count), ~std::uint32_t{0} >> (kWarpSize - count));
    return true;
  }
  std::uint32_t alive = 0;
  std::uint32_t waiting = 0;
  for (std::size_t lane = 0; lane < count; ++lane) {
    lanes[lane] = &threads_[first + lane];
    const Thread::State state = lanes[lane]->state;
    alive |= std::uint32_t{state != Thread::State::exited} << lane;
    waiting |= std::uint32_t{state == Thread::State::at_collective} << lane;
  }
  std::fill(lanes.begin() + static_cast<std::ptrdiff_t>(count), lanes.end(), nullptr);
  bool settled = false;
  for (std::size_t lane = 0; lane < count; ++lane) {
    if ((waiting >> lane & 1) == 0) continue;
    const Thread& thread = *lanes[lane];
    // Threads meet that execute the same kind of instruction for the same threads. It need not be the same
    // instruction.
    std::uint32_t here = 0;
    for (std::size_t other = lane; other < count; ++other) {
      const Thread& next = *lanes[other];
      const bool meets = next.collective == thread.collective &&
                         next.collective_mask == thread.collective_mask &&
                         (next.next == thread.next || next.current().immediate == thread.current().immediate);
      here |= (std::uint32_t{meets} << other) & waiting;
    }
    waiting &= ~here;
    if ((thread.collective_mask & alive & ~here) != 0) continue;
    meet_in_warp(std::span(lanes).first(count), here);
    settled = true;
  }
  return settled;
}

bool Block::settle_active_masks(std::size_t first) {
  const std::size_t count = std::min<std::size_t>(kWarpSize, threads_.size() - first);
  const auto waits = [&](std::size_t lane) {
    return threads_[first + lane].state == Thread::State::at_active_mask;
  };
  std::array<Thread*, kWarpSize> lanes{};
  for (std::size_t lane = 0; lane < count; ++lane) lanes[lane] = &threads_[first + lane];
  for (std::size_t lane = 0; lane < count; ++lane) {
    if (!waits(lane)) continue;
    const Thread& thread = *lanes[lane];
    std::uint32_t mask = 0;
    for (std::size_t other = lane; other < count; ++other) {
      if (waits(other) && lanes[other]->next == thread.next) mask |= std::uint32_t{1} << other;
    }
    running_ = lanes[lane];
    thread.collective(lanes.data(), mask);
    for (std::size_t other = lane; other < count; ++other) {
      if ((mask >> other & 1) != 0) lanes[other]->state = Thread::State::running;
    }
    return true;
  }
  return false;
}

bool Block::release_barriers() {
  bool released = false;
  for (unsigned id = 0; id < kBarriers; ++id) {
    Barrier& barrier = barriers_[id];
    if (!barrier.is_complete(threads_)) continue;
    if (observer_ != nullptr) observer_->meet(barrier, id, threads_);
    barrier.release();
    released = true;
  }
  return released;
}

bool Block::release_from_cluster() {
  if (!cluster_->has_met()) return false;
  cluster_->complete_if_all_have_arrived();
  bool released = false;
  waits_for_cluster_ = false;
  for (Thread& thread : threads_) {
    if (thread.state != Thread::State::at_cluster) continue;
    const bool goes_on = thread.leave_cluster_barrier_if_complete();
    if (goes_on && observer_ != nullptr) observer_->leave_cluster_barrier(thread);
    released |= goes_on;
    waits_for_cluster_ |= !goes_on;
  }
  return released;
}

void Block::report_deadlock() {
  struct Waiting {
    unsigned threads = 0;
    Thread* first = nullptr;
  };
  std::map<unsigned, Waiting> places;  // by the line of the PTX
  for (Thread& thread : threads_) {
    if (thread.state == Thread::State::exited) continue;
    Waiting& place = places[thread.current().line];
    if (place.threads++ == 0) place.first = &thread;
  }
  std::string message = "no thread of the block can go on:";
  Thread* first = nullptr;
  for (const auto& [line, place] : places) {
    message += first == nullptr ? " " : "; ";
    message += std::to_string(place.threads) + (place.threads == 1 ? " waits" : " wait") + " at " +
               *place.first->current().text + " in line " + std::to_string(line) +
               " of the PTX, the first is thread " + in_words(place.first->index);
    if (place.first->state == Thread::State::at_collective)
      message += " (for the lanes of mask " + hexadecimal(place.first->collective_mask) + ")";
    if (first == nullptr || place.first->linear < first->linear) first = place.first;
  }
  if (exited_ != 0) message += "; " + std::to_string(exited_) + " have exited";
  running_ = first;
  throw KernelFault{Fault::barrier, message};
}

}  // namespace opgate::simulator
