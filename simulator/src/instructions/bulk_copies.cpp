// cp.async.bulk and cp.reduce.async.bulk without a map of a tensor: copies of many bytes, which one thread
// begins.
#include "instructions/bulk_copies.h"

#include <utility>
#include <vector>

#include "instructions/bulk_reductions.h"
#include "instructions/select.h"
#include "instructions/selectors.h"
#include "machine/cluster.h"
#include "machine/mbarrier.h"
#include "machine/memory/memory.h"

namespace opgate::simulator {
namespace bulk_copies {

// Addresses and sizes are multiples of it.
constexpr std::uint32_t kUnit = 16;

BulkOperands operands_of(const Thread& thread, const Instruction& in, bool has_mbarrier) {
  const BulkOperands operands = bulk_operands(thread, in, has_mbarrier);
  if (operands.bytes % kUnit == 0) return operands;
  fail(in, Fault::misaligned_address,
       " of " + std::to_string(operands.bytes) + " bytes, which is not a multiple of 16");
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

template <Space from>
void promise(Thread& thread, const Instruction& in, const BulkOperands& operands) {
  const SharedPlace place = place_of_mbarrier<Space::shared>(thread, in, operands.mbarrier);
  read_mbarrier(place, in);
  place.block->promises().add(
      {place, nullptr, 0, copies_of<Space::shared, from>(thread, in, operands), operands.bytes});
}

// [to], [from], bytes, [mbarrier]
template <Space from>
void load(Thread& thread, const Instruction& in) {
  promise<from>(thread, in, operands_of(thread, in, /*has_mbarrier=*/true));
}

void reduce_in_shared(Thread& thread, const Instruction& in) {
  require_cluster(thread, in);
  load<Space::shared>(thread, in);
}

// [to], [from], bytes, [mbarrier], mask: to the same place in each block of the mask, and for its mbarrier.
void load_for_blocks(Thread& thread, const Instruction& in) {
  const BulkOperands operands = operands_of(thread, in, /*has_mbarrier=*/true);
  constexpr std::size_t kMask = 7;
  for_each_rank(thread.registers[in.slot(kMask)], [&](std::size_t rank) {
    BulkOperands there = operands;
    there.to = address_in_block(operands.to, rank);
    there.mbarrier = address_in_block(operands.mbarrier, rank);
    promise<Space::global>(thread, in, there);
  });
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

Handler select_sides(Draft& draft) {
  Modifiers& modifiers = draft.modifiers;
  const bool waits_for_groups = modifiers.take("bulk_group");
  const bool has_mbarrier = modifiers.take("mbarrier::complete_tx::bytes");
  const bool is_reduction = modifiers.take("reduce");
  if (is_reduction && !take_bulk_reduction(draft, has_mbarrier)) return nullptr;
  if (waits_for_groups)
    return modifiers.take("global") && modifiers.take("shared::cta") && draft.operands.size() == 3 ? &store
                                                                                                   : nullptr;
  const bool is_for_blocks = modifiers.take("multicast::cluster");
  if (!has_mbarrier || draft.operands.size() != (is_for_blocks ? 5 : 4) ||
      !draft.is(3, Operand::Kind::address))
    return nullptr;
  if (is_for_blocks)
    return !is_reduction && modifiers.take("global") && modifiers.take("shared::cluster") ? &load_for_blocks
                                                                                          : nullptr;
  if (!is_reduction && modifiers.take("global"))
    return modifiers.take("shared::cluster") || modifiers.take("shared::cta") ? &load<Space::global>
                                                                              : nullptr;
  if (!modifiers.take("shared::cluster") || !modifiers.take("shared::cta")) return nullptr;
  return is_reduction ? &reduce_in_shared : &load<Space::shared>;
}

}  // namespace bulk_copies

BulkOperands bulk_operands(const Thread& thread, const Instruction& in, bool has_mbarrier) {
  const auto value = [&](std::size_t slot) { return thread.registers[in.slot(slot)]; };
  return {value(0) + value(1), value(2) + value(3), static_cast<std::uint32_t>(value(4)),
          has_mbarrier ? value(5) + value(6) : 0};
}

void require_cluster(const Thread& thread, const Instruction& in) {
  if (thread.block->launch().has_clusters) return;
  fail(in, Fault::illegal_instruction, " in a launch without clusters");
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
