#include "machine/launches/grid.h"

#include <algorithm>
#include <cfenv>
#include <utility>

#include "environment/memory_limit.h"
#include "machine/faults.h"
#include "machine/launches/launch_observer.h"
#include "machine/launches/progress_listener.h"
#include "machine/launches/scheduled_order.h"

namespace opgate::simulator {
namespace {

// So many blocks are begun before the first has ended. More are only where none of them seems to end without
// others.
constexpr std::size_t kFewResident = 256;
// The registers and the memory of resident blocks may take so much of the host's memory without a need.
constexpr std::size_t kCheapBytes = std::size_t{1} << 29;
// So many turns each resident block has before there are more of them, although none has ended: if they take
// little memory, and otherwise. A block that only takes long may have hundreds.
constexpr std::size_t kFewTurns = 2;
constexpr std::size_t kManyTurns = 128;
// So many blocks of a launch that is watched are kept in the order in which they began.
constexpr std::size_t kMostNamed = 1024;

// The host may flush subnormal numbers or round in another direction. The kernel does not.
class HostFloats {
 public:
  HostFloats() {
    std::fegetenv(&before_);
    std::fesetenv(FE_DFL_ENV);
  }
  ~HostFloats() { std::fesetenv(&before_); }
  HostFloats(const HostFloats&) = delete;
  HostFloats& operator=(const HostFloats&) = delete;

 private:
  std::fenv_t before_{};
};

BlocksToBegin clusters_to_begin(const Launch& launch) {
  const std::uint64_t clusters = launch.grid.count() / launch.cluster.count();
  if (launch.schedule != nullptr) return {clusters, first_clusters(launch)};
  return {clusters, BlockOrder(clusters, launch.order_seed, launch.number)};
}

std::size_t most_resident_of(const Launch& launch) {
  return launch.most_resident == 0 ? kFewResident : launch.most_resident;
}

std::size_t bytes_of_block(const Program& program, const Launch& launch) {
  const Function& kernel = *program.functions.front();
  const std::size_t of_thread = kernel.initial.size() * sizeof(std::uint64_t) + kernel.local_bytes;
  return launch.block.count() * of_thread + program.signature.static_shared_bytes +
         launch.dynamic_shared_bytes + 1;
}

}  // namespace

Grid::Grid(const Program& program, const Launch& launch, DeviceMemory& memory, ProgressListener& listener,
           LaunchObserver* observer)
    : program_(program),
      launch_(launch),
      memory_(memory),
      listener_(listener),
      observer_(observer),
      windows_(program.sites + 1),
      context_(context_of(program, launch)),
      waiting_(clusters_to_begin(launch)),
      cheap_(std::max<std::size_t>(1, kCheapBytes / bytes_of_block(program, launch))),
      room_(std::min({kFewResident, cheap_, most_resident_of(launch)})),
      most_resident_(most_resident_of(launch)) {
  // A turn that is over ends at the latest when all instructions of a function have been executed once more.
  constexpr std::uint64_t kLongestTurn = 1 << 12;
  for (const auto& function : program.functions)
    reserve_ = std::max<std::uint64_t>(reserve_, function->code.size());
  reserve_ += kLongestTurn;
}

Outcome Grid::run() {
  const HostFloats host_floats;
  Outcome outcome;
  try {
    outcome = run_all();
  } catch (const KernelFault& fault) {
    outcome = outcome_of(fault);
  }
  outcome.instructions = instructions_;
  outcome.left_to_interpreter = context_.left_to_interpreter;
  outcome.begun = std::move(first_begun_);
  return outcome;
}

// False if no block is left.
bool Grid::begin_next() {
  if (spread_ == nullptr) {
    if (waiting_.left() == 0) return false;
    begin_cluster(waiting_.next(), begun_ + 1);
    return true;
  }
  if (taken_.empty()) taken_ = spread_->take();
  if (taken_.empty()) return false;
  const NextBlock next = taken_.back();
  taken_.pop_back();
  if (spread_->is_behind_fault(next.number)) {
    taken_.clear();
    return false;
  }
  begin_cluster(next.linear, next.number);
  return true;
}

// The blocks of a cluster become resident together, in an order of their own. The first of them runs next.
void Grid::begin_cluster(std::uint64_t linear, std::uint32_t number) {
  const Extent& extent = launch_.cluster;
  const Extent clusters{launch_.grid.x / extent.x, launch_.grid.y / extent.y, launch_.grid.z / extent.z};
  const Extent at = index_at(linear, clusters);
  const auto cluster = std::make_shared<Cluster>(at, extent);
  const BlockOrder order = launch_.schedule == nullptr
                               ? BlockOrder(cluster->size(), launch_.order_seed, launch_.number + linear)
                               : BlockOrder::after(cluster->size(), first_in_cluster(launch_, at));
  for (std::size_t i = 0; i < cluster->size(); ++i) {
    const Extent in_cluster = index_at(order.block(i), extent);
    if (idle_.empty()) idle_.push_back(std::make_unique<Block>(*this));
    resident_.push_back(std::move(idle_.back()));
    idle_.pop_back();
    const Extent index{at.x * extent.x + in_cluster.x, at.y * extent.y + in_cluster.y,
                       at.z * extent.z + in_cluster.z};
    resident_.back()->start(index, number++, cluster);
    ++begun_;
    if (observer_ != nullptr && first_begun_.size() < kMostNamed) first_begun_.push_back(index);
  }
}

Outcome Grid::run_all() {
  constexpr std::uint64_t kNowAndThen = 1'000'000;
  while (run_next()) {
    if (is_endless()) {
      throw KernelFault{Fault::timeout,
                        "the kernel does not end: its threads repeat the same instructions, and no memory "
                        "changes" +
                            not_begun_in_words()};
    }
    if (instructions_ - reported_ < kNowAndThen) continue;
    reported_ = instructions_;
    // What tools keep grows with the memory that the kernel accesses.
    if (const std::string beyond = beyond_memory_limit(); !beyond.empty())
      throw KernelFault{Fault::unsupported, beyond};
    const std::uint64_t remaining = instructions_ / waiting_.begun() * waiting_.left();
    listener_.go_on(instructions_, remaining);
    const unsigned threads = may_spread() ? listener_.threads(instructions_, remaining) : 1;
    if (threads > 1) return run_spread(threads);
  }
  return {};
}

// Blocks that run in other threads of the host may still end the wait of those that run here.
bool Grid::is_endless() {
  if (instructions_ < recurrence_.due() || spread_ != nullptr) return false;
  if (next_ < resident_.size() || (waiting_.left() != 0 && resident_.size() < most_resident_)) return false;
  return recurrence_.is_found(instructions_, looks_at_clock_, resident_, memory_, launch_.host_may_write);
}

// Lets one block run. False if all have ended.
bool Grid::run_next() {
  std::size_t turn = resident_.size();
  const std::size_t turns = 2 * room_ <= cheap_ ? kFewTurns : kManyTurns;
  if (without_end_ > turns * room_) room_ = std::min(2 * room_, most_resident_);
  const bool begins = resident_.size() < room_ && (may_begin_ || resident_.empty()) && begin_next();
  if (!begins) {
    if (resident_.empty()) return false;
    turn = next_ < resident_.size() ? next_ : 0;
    next_ = turn + 1;
  }
  running_ = resident_[turn].get();
  const bool ended = running_->run();
  without_end_ = ended ? 0 : without_end_ + 1;
  if (ended) {
    running_->end();
    idle_.push_back(std::move(resident_[turn]));
    resident_.erase(resident_.begin() + static_cast<std::ptrdiff_t>(turn));
    if (turn < next_) --next_;
  } else if (spread_ == nullptr) {
    waiting_.go_on_by_index();
  }
  // Those that have stopped go on in turns with new ones.
  may_begin_ = resident_.empty() || !may_begin_;
  return true;
}

std::uint64_t Grid::turn_within_limit(std::uint64_t most) const {
  const std::uint64_t limit = launch_.instruction_limit;
  if (instructions_ >= limit) {
    throw KernelFault{Fault::timeout, "the limit of " + std::to_string(limit) + " instructions is reached" +
                                          not_begun_in_words()};
  }
  return std::min(most, limit - instructions_);
}

std::string Grid::not_begun_in_words() const {
  if (waiting_.left() == 0 || resident_.size() < most_resident_ || begun_ != resident_.size()) return "";
  return "; " + std::to_string(waiting_.left() * (begun_ / waiting_.begun())) +
         " blocks have not begun, because the device holds " + std::to_string(resident_.size()) +
         " of them at once, and none of those has ended";
}

unsigned char* Grid::ask(std::uint32_t site, std::uint64_t address, std::size_t bytes, Access access,
                         const std::string& text) {
  std::size_t until = 0;
  std::string why;
  auto* const host = static_cast<unsigned char*>(memory_.translate(address, bytes, access, until, why));
  if (host == nullptr) {
    throw KernelFault{Fault::illegal_address, text + " of " + std::to_string(bytes) + " bytes at " +
                                                  hexadecimal(address) + ": " + why};
  }
  windows_[site] = {address, std::max(until, bytes), host};
  return host;
}

std::uint64_t Grid::allocate(std::size_t bytes) {
  const std::uint64_t address = memory_.allocate_in_kernel(bytes);
  if (address != 0 && observer_ != nullptr) observer_->begin_memory(address, bytes);
  return address;
}

void Grid::release(std::uint64_t address, const std::string& text) {
  std::string why;
  if (!memory_.free_in_kernel(address, why))
    throw KernelFault{Fault::illegal_address, text + " of " + hexadecimal(address) + ": " + why};
  // What was allowed before may lie in this memory.
  std::ranges::fill(windows_, Window{});
  std::ranges::fill(context_.all_windows, CompiledWindow{});
}

Outcome Grid::outcome_of(const KernelFault& fault) const {
  Outcome outcome;
  outcome.fault = fault.fault;
  outcome.message = fault.message;
  if (running_ == nullptr) return outcome;
  outcome.block_index = running_->index();
  const Thread* const thread = running_->running();
  if (thread == nullptr) return outcome;
  outcome.thread_index = thread->index;
  if (thread->next == nullptr) return outcome;
  // The limit is noticed before a thread goes on, all other faults while an instruction is executed.
  const Instruction& instruction = outcome.fault == Fault::timeout ? *thread->next : thread->current();
  outcome.location = instruction.location != 0 ? program_.locations[instruction.location]
                                               : "line " + std::to_string(instruction.line) + " of the PTX";
  return outcome;
}

}  // namespace opgate::simulator
