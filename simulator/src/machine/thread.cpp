#include "machine/thread.h"

#include <algorithm>
#include <cstring>

#include "machine/block.h"
#include "machine/faults.h"
#include "machine/launches/compiled_code.h"
#include "machine/state_digest.h"

namespace opgate::simulator {
namespace {

// As much as a thread of a device can have.
constexpr std::size_t kMostLocalBytes = 512 * 1024;
constexpr std::size_t kMostFrames = 4096;

unsigned along(const Extent& extent, std::uint64_t axis) {
  return axis == 0 ? extent.x : axis == 1 ? extent.y : extent.z;
}

}  // namespace

void Thread::start(Block& of, unsigned linear_index, const Extent& at, bool has_registers) {
  block = &of;
  linear = linear_index;
  lane = linear_index % kWarpSize;
  index = at;
  state = State::running;
  carry = false;
  is_followed = false;
  cluster_phase = 0;
  const Function& kernel = *of.program().functions.front();
  if (!has_registers && !frames_.empty()) {
    start_again(kernel);
    return;
  }
  next = nullptr;
  frames_.clear();
  local_.set_size(0);
  enter(kernel, nullptr);
}

// The constants are still in their slots, and compiled code needs no more of the frame.
void Thread::start_again(const Function& kernel) {
  frames_.resize(1);
  registers = slots_.data();
  next = kernel.code.data();
  local_.set_size(0);
  local_.resize(kernel.local_bytes, block->launch().fill);
}

Thread::Frame Thread::frame_of(const Function& function, const Call* call) const {
  if (frames_.empty()) return {&function, call, next, 0, 0};
  const Frame& caller = frames_.back();
  const std::size_t end_of_local = caller.local + caller.function->local_bytes;
  return {&function, call, next, caller.registers + caller.function->initial.size(),
          local_begin_behind(end_of_local)};
}

void Thread::enter(const Function& function, const Call* call) {
  const Frame frame = frame_of(function, call);
  if (frames_left() == 0 || frame.local + function.local_bytes > kMostLocalBytes)
    throw KernelFault{Fault::trap, "the call of `" + function.name + "` needs more stack than a thread has"};
  local_.resize(frame.local + function.local_bytes, block->launch().fill);
  frames_.push_back(frame);
  const std::size_t end = frame.registers + function.initial.size();
  if (slots_.size() < end) slots_.resize(std::max(end, 2 * slots_.size()));
  registers = slots_.data() + frame.registers;
  std::copy(function.initial.begin(), function.initial.end(), registers);
  next = function.code.data();
  set_frame_values(function);
}

void Thread::follow_call(const Function& function, const Instruction& call) {
  next = &call + 1;
  frames_.push_back(frame_of(function, &this->function().calls[static_cast<std::size_t>(call.immediate)]));
  registers = slots_.data() + frames_.back().registers;
  next = function.code.data();
  for (const Slot slot : function.compiled->constants)
    registers[slot] = function.initial[static_cast<std::size_t>(slot)];
}

void Thread::follow_return() {
  frames_.pop_back();
  registers = slots_.data() + frames_.back().registers;
}

std::size_t Thread::frames_left() const { return kMostFrames - frames_.size(); }

void Thread::set_frame_values(const Function& function) {
  for (const FrameValue& value : function.frame_values) registers[value.slot] = value_of(value);
}

std::uint64_t Thread::value_of(const FrameValue& value) const {
  using Kind = FrameValue::Kind;
  const Launch& launch = block->launch();
  const std::uint32_t self = std::uint32_t{1} << lane;
  switch (value.kind) {
    case Kind::thread_index:
      return along(index, value.value);
    case Kind::block_extent:
      return along(launch.block, value.value);
    case Kind::block_index:
      return along(block->index(), value.value);
    case Kind::grid_extent:
      return along(launch.grid, value.value);
    case Kind::cluster_index:
      return along(block->cluster().index(), value.value);
    case Kind::clusters:
      return along(launch.grid, value.value) / along(launch.cluster, value.value);
    case Kind::index_in_cluster:
      return along(block->index(), value.value) % along(launch.cluster, value.value);
    case Kind::cluster_extent:
      return along(launch.cluster, value.value);
    case Kind::rank_in_cluster:
      return block->rank();
    case Kind::cluster_size:
      return block->cluster().size();
    case Kind::is_explicit_cluster:
      return launch.has_clusters ? 1 : 0;
    case Kind::lane:
      return lane;
    case Kind::lane_mask_equal:
      return self;
    case Kind::lane_mask_less:
      return self - 1;
    case Kind::lane_mask_less_or_equal:
      return self | (self - 1);
    case Kind::lane_mask_greater:
      return ~(self | (self - 1));
    case Kind::lane_mask_greater_or_equal:
      return ~(self - 1);
    case Kind::warp:
      return linear / kWarpSize;
    case Kind::warps:
      return (launch.block.count() + kWarpSize - 1) / kWarpSize;
    case Kind::dynamic_shared:
      return launch.dynamic_shared_bytes;
    case Kind::workspace_low:
      return launch.grid_workspace & 0xffffffffu;
    case Kind::workspace_high:
      return launch.grid_workspace >> 32;
    case Kind::total_shared:
      return block->shared_bytes();
    case Kind::local_address:
      return frames_.back().local + value.value;
  }
  return 0;
}

void Thread::hand_over(const Argument& from, const Frame& source, const Argument& to, const Frame& target) {
  std::uint64_t* const from_slot = &slots_[source.registers + static_cast<std::size_t>(from.slot)];
  std::uint64_t* const to_slot = &slots_[target.registers + static_cast<std::size_t>(to.slot)];
  const void* const from_bytes =
      from.in_register ? static_cast<const void*>(from_slot) : local_.data() + source.local + from.offset;
  void* const to_bytes =
      to.in_register ? static_cast<void*>(to_slot) : local_.data() + target.local + to.offset;
  if (to.in_register) *to_slot = 0;
  const std::size_t bytes = std::min(from.bytes, to.bytes);
  // Most arguments have one of two sizes, which a processor moves at once.
  if (bytes == 4) {
    std::memcpy(to_bytes, from_bytes, 4);
  } else if (bytes == 8) {
    std::memcpy(to_bytes, from_bytes, 8);
  } else {
    std::memcpy(to_bytes, from_bytes, bytes);
  }
}

void Thread::call(const Call& call) {
  const Program& program = block->program();
  std::size_t callee = static_cast<std::size_t>(call.callee);
  if (call.callee < 0) {
    const std::uint64_t address = registers[call.address];
    const auto known = program.addresses.find(address);
    if (known == program.addresses.end())
      throw KernelFault{Fault::trap, "a call of " + hexadecimal(address) + ", which is not a function"};
    callee = known->second;
  }
  enter(*program.functions[callee], &call);
  const Frame& to = frames_.back();
  const Frame& from = frames_[frames_.size() - 2];
  const std::size_t count = std::min(call.arguments.size(), to.function->arguments.size());
  for (std::size_t i = 0; i < count; ++i) hand_over(call.arguments[i], from, to.function->arguments[i], to);
}

bool Thread::leave_cluster_barrier_if_complete() {
  if (cluster_phase == block->cluster().phase()) return false;
  state = State::running;
  cluster_phase = 0;
  return true;
}

void Thread::add_to(StateDigest& digest) {
  digest.add(static_cast<std::uint64_t>(state));
  if (state == State::exited) return;
  digest.add(reinterpret_cast<std::uintptr_t>(next));
  digest.add(frames_.size());
  digest.add(std::uint64_t{collective_mask} << 1 | std::uint64_t{carry});
  digest.add(cluster_phase);
  for (const CopyQueue* const queue : {&copies, &bulk_copies}) {
    digest.add(queue->begun());
    digest.add(queue->happened());
  }
  digest.add(slots_.data(), (first_register() + function().initial.size()) * sizeof(std::uint64_t));
  digest.add(local_.data(), local_.size());
}

void Thread::exit() {
  state = State::exited;
  if (cluster_phase == block->cluster().phase()) block->cluster().withdraw();
  copies.finish_all();
  bulk_copies.finish_all();
}

void Thread::forget() {
  constexpr std::size_t kMostKept = 4096;  // bytes of local memory
  frames_.clear();
  local_.clear(kMostKept);
  copies = {};
  bulk_copies = {};
}

void Thread::leave_function() {
  const Frame done = frames_.back();
  if (done.call == nullptr) {
    exit();
    return;
  }
  const Frame& caller = frames_[frames_.size() - 2];
  const std::size_t count = std::min(done.call->results.size(), done.function->results.size());
  for (std::size_t i = 0; i < count; ++i)
    hand_over(done.function->results[i], done, done.call->results[i], caller);
  next = done.back;
  local_.set_size(caller.local + caller.function->local_bytes);
  frames_.pop_back();
  registers = slots_.data() + frames_.back().registers;
}

}  // namespace opgate::simulator
