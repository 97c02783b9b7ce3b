#include "watch/late_launch.h"

#include "machine/faults.h"
#include "machine/memory/memory.h"

namespace opgate::simulator {
namespace late_launch {

class LateBlock final : public BlockObserver {
 public:
  LateBlock(LateLaunch& launch, std::unique_ptr<BlockObserver> tools)
      : launch_(launch), tools_(std::move(tools)) {}

  void begin(const Extent& index, std::size_t shared_bytes) override {
    number_ = launch_.number_of_next_block();
    if (tools_ != nullptr) tools_->begin(index, shared_bytes);
  }
  void begin_turn() override { launch_.stores().begin_turn(number_); }
  void let_time_pass() override { launch_.stores().let_time_pass(); }
  void end_turn() override { launch_.stores().end_turn(); }
  void execute(Thread& thread, const Instruction& instruction) override {
    launch_.prepare(thread, instruction);
    if (tools_ != nullptr)
      tools_->execute(thread, instruction);
    else
      instruction.execute(thread, instruction);
  }
  void follow(Thread& thread, const Instruction& instruction) override {
    if (instruction.annotation != nullptr && !thread.leaves_out(instruction))
      launch_.prepare(thread, instruction);
    tools_->follow(thread, instruction);
  }
  void meet(const Barrier& barrier, unsigned id, const std::vector<Thread>& threads) override {
    if (tools_ != nullptr) tools_->meet(barrier, id, threads);
  }
  void leave_cluster_barrier(Thread& thread) override {
    if (tools_ != nullptr) tools_->leave_cluster_barrier(thread);
  }
  void meet_in_warp(std::span<Thread* const> lanes, std::uint32_t here, std::uint32_t named) override {
    if (tools_ != nullptr) tools_->meet_in_warp(lanes, here, named);
  }

 private:
  LateLaunch& launch_;
  std::unique_ptr<BlockObserver> tools_;
  std::uint32_t number_ = 0;  ///< of the blocks of the launch, in the order in which they begin
};

}  // namespace late_launch

LateLaunch::LateLaunch(const Launch& launch, DeviceMemory& memory, LaunchObserver* tools)
    : memory_(memory),
      tools_(tools),
      stores_(launch.late_stores_seed, launch.number),
      blocks_are_alone_(launch.cluster.count() == 1) {}

std::unique_ptr<BlockObserver> LateLaunch::watch_block() {
  return std::make_unique<late_launch::LateBlock>(*this, tools_ == nullptr ? nullptr : tools_->watch_block());
}

void LateLaunch::begin_memory(std::uint64_t address, std::size_t bytes) {
  if (tools_ != nullptr) tools_->begin_memory(address, bytes);
}

void LateLaunch::prepare(Thread& thread, const Instruction& instruction) {
  using Kind = Annotation::Kind;
  const Annotation& how = *instruction.annotation;
  if (how.makes_visible && (how.scope != Scope::cluster || !blocks_are_alone_)) stores_.make_visible();
  if (how.kind == Kind::host_call) last_ = {};  // it may be `free`
  const bool is_store = how.kind == Kind::store && how.lanes != 0;
  if (!is_store && how.kind != Kind::atomic && how.kind != Kind::reduction) return;
  std::uint64_t address = address_in(thread, instruction, how.operand);
  if (how.space == Space::global || (how.space == Space::generic && space_of(address) == Space::global))
    prepare_access(thread, instruction, address);
}

void LateLaunch::prepare_access(Thread& thread, const Instruction& instruction, std::uint64_t address) {
  const Annotation& how = *instruction.annotation;
  const bool is_store = how.kind == Annotation::Kind::store;
  unsigned char* place = nullptr;
  try {
    place = is_store ? locate<Space::global, Access::store>(thread, instruction, address, how.bytes)
                     : locate<Space::global, Access::atomic>(thread, instruction, address, how.bytes);
  } catch (const KernelFault&) {
    return;  // the instruction itself has the fault
  }
  if (!is_store)
    stores_.make_visible(place, how.bytes);
  else if (!is_of_host(address))
    stores_.store(place, how.bytes, how.is_strong);
}

// The host may access its memory while the kernel runs, and must see there what memory really holds.
bool LateLaunch::is_of_host(std::uint64_t address) {
  if (address - last_.begin >= last_.bytes) last_ = memory_.allocation_of(address);
  return last_.is_of_host;
}

}  // namespace opgate::simulator
