#include "simulator/watch/held_copies.h"

#include <cstring>

#include "simulator/machine/memory.h"

namespace opgate::simulator {
namespace held_copies {

class RepeatedBlock final : public BlockObserver {
 public:
  RepeatedBlock(const HeldCopies& copies, HeldCopies::Value value, const Extent& grid)
      : copies_(copies), value_(value), grid_(grid) {}

  void begin(const Extent& index, std::size_t /*shared_bytes*/) override {
    block_ = linear_index(index, grid_);
  }
  void execute(Thread& thread, const Instruction& instruction) override {
    const HeldCopies::Changed* const changed = changed_by(thread, instruction);
    if (changed == nullptr) {
      instruction.execute(thread, instruction);
      return;
    }
    // The load itself knows how bytes become registers, so that it finds them in memory for a moment.
    const Annotation& how = *instruction.annotation;
    unsigned char* const place = locate<Space::global, Access::load>(
        thread, instruction, address_in(thread, instruction, how.operand), how.bytes);
    std::array<unsigned char, 16> now{};
    std::memcpy(now.data(), place, how.bytes);
    const auto& wanted = value_ == HeldCopies::Value::before ? changed->before : changed->after;
    std::memcpy(place, wanted.data(), how.bytes);
    instruction.execute(thread, instruction);
    std::memcpy(place, now.data(), how.bytes);
  }
  // The tool `init`, which follows values, does not watch a repetition.
  void follow(Thread& thread, const Instruction& instruction) override {
    if (!thread.leaves_out(instruction)) execute(thread, instruction);
  }
  void meet(const Barrier& /*barrier*/, unsigned /*id*/, const std::vector<Thread>& /*threads*/) override {}
  void leave_cluster_barrier(Thread& /*thread*/) override {}
  void meet_in_warp(std::span<Thread* const> /*lanes*/, std::uint32_t /*here*/,
                    std::uint32_t /*named*/) override {}

 private:
  // What another warp stores to the element that the thread is about to load; null if it loads no such one.
  const HeldCopies::Changed* changed_by(const Thread& thread, const Instruction& instruction) const {
    const Annotation* const how = instruction.annotation;
    if (how == nullptr || how->kind != Annotation::Kind::load || how->element == 0) return nullptr;
    const std::uint64_t address = address_in(thread, instruction, how->operand);
    const HeldCopies::Changed* const changed = copies_.find(block_, address);
    return changed == nullptr || changed->warp == thread.linear / kWarpSize ? nullptr : changed;
  }

  const HeldCopies& copies_;
  HeldCopies::Value value_;
  Extent grid_;
  std::uint64_t block_ = 0;
};

}  // namespace held_copies

std::unique_ptr<BlockObserver> RepeatedWithCopies::watch_block() {
  return std::make_unique<held_copies::RepeatedBlock>(copies_, value_, grid_);
}

}  // namespace opgate::simulator
