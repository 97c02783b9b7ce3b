#include "simulator/machine/grid.h"

#include <algorithm>
#include <cfenv>
#include <utility>

#include "simulator/machine/faults.h"
#include "simulator/machine/progress_listener.h"
#include "simulator/machine/scheduled_order.h"

namespace opgate::simulator {
namespace {

// So many blocks are begun before the first has ended. More are only where none of them seems to end without
// others.
constexpr std::size_t kFewResident = 256;
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
  const std::uint64_t clusters = std::uint64_t{launch.grid.x} * launch.grid.y * launch.grid.z /
                                 launch.cluster.x / launch.cluster.y / launch.cluster.z;
  if (launch.schedule != nullptr) return {clusters, first_clusters(launch)};
  return {clusters, BlockOrder(clusters, launch.order_seed, launch.number)};
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
      waiting_(clusters_to_begin(launch)) {
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
    run_all();
  } catch (const KernelFault& fault) {
    outcome.fault = fault.fault;
    outcome.message = fault.message;
    describe(outcome);
  }
  outcome.instructions = instructions_;
  outcome.begun = std::move(first_begun_);
  return outcome;
}

// The blocks of a cluster become resident together, in an order of their own. The first of them runs next.
void Grid::begin_cluster(std::uint64_t linear) {
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
    resident_.back()->start(index, ++begun_, cluster);
    if (observer_ != nullptr && first_begun_.size() < kMostNamed) first_begun_.push_back(index);
  }
}

// How many blocks may be resident.
std::size_t Grid::most_resident() const {
  return launch_.most_resident == 0 ? kFewResident : launch_.most_resident;
}

void Grid::run_all() {
  std::size_t next = 0;  // of the resident blocks, the one that goes on next
  bool may_begin = true;
  std::size_t room = std::min(kFewResident, most_resident());
  std::size_t without_end = 0;  // turns since a block has ended
  while (waiting_.left() != 0 || !resident_.empty()) {
    std::size_t turn = resident_.size();
    if (without_end > 2 * room) room = std::min(2 * room, most_resident());
    if (waiting_.left() != 0 && resident_.size() < room && (may_begin || resident_.empty())) {
      begin_cluster(waiting_.next());
    } else {
      turn = next < resident_.size() ? next : 0;
      next = turn + 1;
    }
    running_ = resident_[turn].get();
    const bool ended = running_->run();
    report_progress();
    without_end = ended ? 0 : without_end + 1;
    if (ended) {
      running_->end();
      idle_.push_back(std::move(resident_[turn]));
      resident_.erase(resident_.begin() + static_cast<std::ptrdiff_t>(turn));
      if (turn < next) --next;
    } else {
      waiting_.go_on_by_index();
    }
    // Those that have stopped go on in turns with new ones.
    may_begin = resident_.empty() || !may_begin;
  }
}

void Grid::report_progress() {
  constexpr std::uint64_t kNowAndThen = 1'000'000;
  if (instructions_ - reported_ < kNowAndThen) return;
  reported_ = instructions_;
  listener_.go_on(instructions_, instructions_ / waiting_.begun() * waiting_.left());
}

std::uint64_t Grid::turn_within_limit(std::uint64_t most) const {
  const std::uint64_t limit = launch_.instruction_limit;
  if (instructions_ >= limit) {
    std::string message = "the limit of " + std::to_string(limit) + " instructions is reached";
    if (waiting_.left() != 0 && resident_.size() >= most_resident() && begun_ == resident_.size())
      message += "; " + std::to_string(waiting_.left() * (begun_ / waiting_.begun())) +
                 " blocks have not begun, because the device holds " + std::to_string(resident_.size()) +
                 " of them at once, and none of those has ended";
    throw KernelFault{Fault::timeout, message};
  }
  return std::min(most, limit - instructions_);
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

void Grid::describe(Outcome& outcome) const {
  if (running_ == nullptr) return;
  outcome.block_index = running_->index();
  const Thread* const thread = running_->running();
  if (thread == nullptr) return;
  outcome.thread_index = thread->index;
  if (thread->next == nullptr) return;
  // The limit is noticed before a thread goes on, all other faults while an instruction is executed.
  const Instruction& instruction = outcome.fault == Fault::timeout ? *thread->next : thread->current();
  outcome.location = instruction.location != 0 ? program_.locations[instruction.location]
                                               : "line " + std::to_string(instruction.line) + " of the PTX";
}

}  // namespace opgate::simulator
