// cp.async.bulk without a map of a tensor: copies of many bytes, which one thread begins.
#include <utility>
#include <vector>

#include "simulator/instructions/select.h"
#include "simulator/instructions/selectors.h"
#include "simulator/machine/mbarrier.h"
#include "simulator/machine/memory.h"

namespace opgate::simulator {
namespace bulk_copies {

// Addresses and sizes are multiples of it.
constexpr std::uint32_t kUnit = 16;

std::uint32_t size_of(const Thread& thread, const Instruction& in, int operand) {
  const auto bytes = read<std::uint32_t>(thread, in, operand);
  if (bytes % kUnit == 0) return bytes;
  throw KernelFault{Fault::misaligned_address,
                    *in.text + " of " + std::to_string(bytes) + " bytes, which is not a multiple of 16"};
}

// All of both sides is checked. Pieces that lie side by side become one copy.
template <Space to, Space from>
std::vector<Copy> copies_of(Thread& thread, const Instruction& in, std::uint64_t target, std::uint64_t source,
                            std::uint32_t bytes) {
  std::vector<Copy> copies;
  for (std::uint32_t done = 0; done < bytes; done += kUnit) {
    const Copy piece{locate<to, Access::store>(thread, in, target + done, kUnit),
                     locate<from, Access::load>(thread, in, source + done, kUnit), kUnit};
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

// The first address has its offset in the immediate, all others in the slot behind them.
std::uint64_t further_address(const Thread& thread, const Instruction& in, int operand) {
  return read<std::uint64_t>(thread, in, operand) + read<std::uint64_t>(thread, in, operand + 1);
}

// [to], [from], bytes, [mbarrier]
void load(Thread& thread, const Instruction& in) {
  const std::uint32_t bytes = size_of(thread, in, 3);
  const MBarrierPlace place = place_of_mbarrier<Space::shared>(thread, in, further_address(thread, in, 4));
  read_mbarrier(*thread.block, place, in);
  thread.block->promises().add(
      {place, nullptr, 0,
       copies_of<Space::shared, Space::global>(thread, in, address_of(thread, in, 0),
                                               further_address(thread, in, 1), bytes),
       bytes});
}

// [to], [from], bytes
void store(Thread& thread, const Instruction& in) {
  const std::uint32_t bytes = size_of(thread, in, 3);
  for (const Copy& copy : copies_of<Space::global, Space::shared>(thread, in, address_of(thread, in, 0),
                                                                  further_address(thread, in, 1), bytes))
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

}  // namespace bulk_copies

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
  if (!draft.is(0, Operand::Kind::address) || !draft.is(1, Operand::Kind::address) ||
      !modifiers.take("global"))
    return nullptr;
  if (modifiers.take("bulk_group"))
    return modifiers.take("shared::cta") && draft.operands.size() == 3 ? &store : nullptr;
  if (!modifiers.take("mbarrier::complete_tx::bytes") || draft.operands.size() != 4 ||
      !draft.is(3, Operand::Kind::address))
    return nullptr;
  return modifiers.take("shared::cluster") || modifiers.take("shared::cta") ? &load : nullptr;
}

}  // namespace opgate::simulator
