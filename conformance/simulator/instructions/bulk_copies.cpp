// cp.async.bulk and cp.reduce.async.bulk without a map of a tensor: copies of many bytes, which one thread
// begins.
#include "simulator/instructions/bulk_copies.h"

#include <utility>
#include <vector>

#include "simulator/instructions/bulk_reductions.h"
#include "simulator/instructions/select.h"
#include "simulator/instructions/selectors.h"
#include "simulator/machine/mbarrier.h"
#include "simulator/machine/memory.h"

namespace opgate::simulator {
namespace bulk_copies {

// Addresses and sizes are multiples of it.
constexpr std::uint32_t kUnit = 16;

BulkOperands operands_of(const Thread& thread, const Instruction& in, bool has_mbarrier) {
  const BulkOperands operands = bulk_operands(thread, in, has_mbarrier);
  if (operands.bytes % kUnit == 0) return operands;
  throw KernelFault{Fault::misaligned_address, *in.text + " of " + std::to_string(operands.bytes) +
                                                   " bytes, which is not a multiple of 16"};
}

// All of both sides is checked. Pieces that lie side by side become one copy.
template <Space to, Space from>
std::vector<Copy> copies_of(Thread& thread, const Instruction& in, const BulkOperands& operands) {
  const Combine combine = combine_of_bulk_reduction(static_cast<std::size_t>(in.immediate));
  std::vector<Copy> copies;
  for (std::uint32_t done = 0; done < operands.bytes; done += kUnit) {
    const Copy piece{locate<to, Access::store>(thread, in, operands.to + done, kUnit),
                     locate<from, Access::load>(thread, in, operands.from + done, kUnit), kUnit, combine};
    if (!copies.empty()) {
      Copy& last = copies.back();
      if (last.to + last.bytes == piece.to && last.from + last.bytes == piece.from) {
        last.bytes += kUnit;
        continue;
      }
    }
    copies.push_back(piece);
  }
  return copies;
}

// [to], [from], bytes, [mbarrier]
template <Space from>
void load(Thread& thread, const Instruction& in) {
  const BulkOperands operands = operands_of(thread, in, /*has_mbarrier=*/true);
  const SharedPlace place = place_of_mbarrier<Space::shared>(thread, in, operands.mbarrier);
  read_mbarrier(place, in);
  place.block->promises().add(
      {place, nullptr, 0, copies_of<Space::shared, from>(thread, in, operands), operands.bytes});
}

// [to], [from], bytes
void store(Thread& thread, const Instruction& in) {
  const BulkOperands operands = operands_of(thread, in, /*has_mbarrier=*/false);
  for (const Copy& copy : copies_of<Space::global, Space::shared>(thread, in, operands))
    thread.bulk_copies.begin(copy);
}

void commit(Thread& thread, const Instruction&) { thread.bulk_copies.commit(); }

template <bool only_reads>
void wait_for_groups(Thread& thread, const Instruction& in) {
  const auto kept = read<std::uint32_t>(thread, in, 0);
  if (only_reads) {
    thread.bulk_copies.read_groups(kept);
  } else {
    thread.bulk_copies.finish_groups(kept);
  }
}

// The immediate is the number of the reduction.
bool take_reduction(Draft& draft, bool in_shared) {
  const std::optional<AtomicOperation> operation = take_bulk_operation(draft.modifiers);
  const Type type = draft.modifiers.take_type();
  if (!operation) return false;
  const std::optional<std::size_t> number = bulk_reduction(*operation, type, in_shared);
  if (!number) return false;
  draft.instruction.immediate = static_cast<std::int64_t>(*number);
  return true;
}

Handler select_sides(Draft& draft) {
  Modifiers& modifiers = draft.modifiers;
  const bool waits_for_groups = modifiers.take("bulk_group");
  const bool has_mbarrier = modifiers.take("mbarrier::complete_tx::bytes");
  const bool is_reduction = modifiers.take("reduce");
  if (is_reduction && !take_reduction(draft, has_mbarrier)) return nullptr;
  if (waits_for_groups)
    return modifiers.take("global") && modifiers.take("shared::cta") && draft.operands.size() == 3 ? &store
                                                                                                   : nullptr;
  if (!has_mbarrier || draft.operands.size() != 4 || !draft.is(3, Operand::Kind::address)) return nullptr;
  if (!is_reduction && modifiers.take("global"))
    return modifiers.take("shared::cluster") || modifiers.take("shared::cta") ? &load<Space::global>
                                                                              : nullptr;
  return modifiers.take("shared::cluster") && modifiers.take("shared::cta") ? &load<Space::shared> : nullptr;
}

}  // namespace bulk_copies

BulkOperands bulk_operands(const Thread& thread, const Instruction& in, bool has_mbarrier) {
  const auto value = [&](std::size_t slot) { return thread.registers[in.slot(slot)]; };
  return {value(0) + value(1), value(2) + value(3), static_cast<std::uint32_t>(value(4)),
          has_mbarrier ? value(5) + value(6) : 0};
}

Handler select_bulk_copy(Draft& draft) {
  using namespace bulk_copies;
  Modifiers& modifiers = draft.modifiers;
  if (modifiers.take("commit_group")) return draft.operands.empty() ? &commit : nullptr;
  if (modifiers.take("wait_group")) {
    if (draft.operands.size() != 1) return nullptr;
    return modifiers.take("read") ? &wait_for_groups<true> : &wait_for_groups<false>;
  }
  if (modifiers.has("tensor")) return select_tensor_copy(draft);
  if (modifiers.take("prefetch")) return modifiers.take("L2") ? select_no_effect(draft) : nullptr;
  const bool has_policy = modifiers.has("L2::cache_hint");
  modifiers.take_hints();
  if (has_policy && !draft.operands.empty()) draft.operands.pop_back();
  if (!draft.is(0, Operand::Kind::address) || !draft.is(1, Operand::Kind::address)) return nullptr;
  draft.keeps_immediate = true;
  return select_sides(draft);
}

}  // namespace opgate::simulator
