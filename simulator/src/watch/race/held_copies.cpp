#include "watch/race/held_copies.h"

#include <cstring>

#include "machine/memory/memory.h"

namespace opgate::simulator {

HeldCopies::Changed change_by(Thread& thread, const Instruction& instruction, std::uint64_t address,
                              Space space) {
  const Annotation& how = *instruction.annotation;
  HeldCopies::Changed change;
  change.warp = thread.linear / kWarpSize;
  const unsigned char* const old =
      space == Space::shared ? locate<Space::shared, Access::store>(thread, instruction, address, how.bytes)
                             : locate<Space::global, Access::store>(thread, instruction, address, how.bytes);
  std::memcpy(change.before.data(), old, how.bytes);
  const std::size_t each = how.bytes / how.lanes;
  for (std::size_t lane = 0; lane < how.lanes; ++lane)
    std::memcpy(&change.after[lane * each], &thread.registers[instruction.slot(lane + 1)], each);
  return change;
}

void HeldCopies::note_change(Element element, std::uint32_t thread, const Changed& change) {
  changed_[element] = change;
  has_other_writer_ = has_other_writer_ || !loaded_by_[element].contains(thread);
}

namespace held_copies {

// A block of a repetition, which no tool watches.
class Block : public BlockObserver {
 public:
  explicit Block(const Extent& grid) : grid_(grid) {}

  void begin(const Extent& index, std::size_t /*shared_bytes*/) override {
    block_ = linear_index(index, grid_);
  }
  // The tool `init`, which follows values, does not watch a repetition.
  void follow(Thread& thread, const Instruction& instruction) override {
    if (!thread.leaves_out(instruction)) execute(thread, instruction);
  }
  void meet(const Barrier& /*barrier*/, unsigned /*id*/, const std::vector<Thread>& /*threads*/) override {}
  void leave_cluster_barrier(Thread& /*thread*/) override {}
  void meet_in_warp(std::span<Thread* const> /*lanes*/, std::uint32_t /*here*/,
                    std::uint32_t /*named*/) override {}

 protected:
  HeldCopies::Element element_of(const Thread& thread, const Instruction& instruction) const {
    return {block_, address_in(thread, instruction, instruction.annotation->operand)};
  }

 private:
  Extent grid_;
  std::uint64_t block_ = 0;
};

bool is_plain(const Annotation* how, Annotation::Kind kind) {
  return how != nullptr && how->kind == kind && how->is_plain();
}

class RecordedBlock final : public Block {
 public:
  RecordedBlock(HeldCopies& copies, const Extent& grid) : Block(grid), copies_(copies) {}

  void execute(Thread& thread, const Instruction& instruction) override {
    const Annotation* const how = instruction.annotation;
    if (is_plain(how, Annotation::Kind::load)) {
      if (const auto element = element_of(thread, instruction); copies_.has_raced(element))
        copies_.note_load(element, thread.linear);
    } else if (is_plain(how, Annotation::Kind::store)) {
      if (const auto element = element_of(thread, instruction); copies_.has_raced(element))
        copies_.note_change(element, thread.linear,
                            change_by(thread, instruction, element.second, Space::global));
    }
    instruction.execute(thread, instruction);
  }

 private:
  HeldCopies& copies_;
};

class RepeatedBlock final : public Block {
 public:
  RepeatedBlock(const HeldCopies& copies, HeldCopies::Value value, const Extent& grid)
      : Block(grid), copies_(copies), value_(value) {}

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

 private:
  // What another warp stores to the element that the thread is about to load; null if it loads no such one.
  const HeldCopies::Changed* changed_by(const Thread& thread, const Instruction& instruction) const {
    if (!is_plain(instruction.annotation, Annotation::Kind::load)) return nullptr;
    const HeldCopies::Changed* const changed = copies_.find(element_of(thread, instruction));
    return changed == nullptr || changed->warp == thread.linear / kWarpSize ? nullptr : changed;
  }

  const HeldCopies& copies_;
  HeldCopies::Value value_;
};

}  // namespace held_copies

std::unique_ptr<BlockObserver> RecordedCopies::watch_block() {
  return std::make_unique<held_copies::RecordedBlock>(copies_, grid_);
}

std::unique_ptr<BlockObserver> RepeatedWithCopies::watch_block() {
  return std::make_unique<held_copies::RepeatedBlock>(copies_, value_, grid_);
}

}  // namespace opgate::simulator
