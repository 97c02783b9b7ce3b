// cp.async.bulk.tensor: copies of a box of a tensor, which a map describes. One thread begins them.
#include "simulator/instructions/tensor_copies.h"

#include <array>
#include <cstring>
#include <optional>
#include <utility>

#include "simulator/instructions/select.h"
#include "simulator/instructions/selectors.h"
#include "simulator/machine/mbarrier.h"
#include "simulator/machine/memory.h"

namespace opgate::simulator {
namespace tensor_copies {

constexpr std::uint32_t kSharedAlignment = 128;

// The operands of a load are the target, the map with its coordinates, and the mbarrier; those of a store the
// map and the source. The first address has its offset in the immediate, all others in the slot behind them.
// An instruction does not hold the rank, which its opcode names.
struct Operands {
  const Thread& thread;
  const Instruction& in;
  std::size_t rank;

  Operands(const Thread& of, const Instruction& instruction)
      : thread(of), in(instruction), rank(rank_of(*instruction.text)) {}

  static std::size_t rank_of(const std::string& opcode) {
    const std::size_t at = opcode.find(".tensor.") + std::string_view(".tensor.").size();
    return static_cast<std::size_t>(opcode[at] - '0');
  }

  std::uint64_t value(std::size_t slot) const { return thread.registers[in.slot(slot)]; }
  std::uint64_t first_address() const { return value(0) + static_cast<std::uint64_t>(in.immediate); }
  std::uint64_t address_behind(std::size_t slot, std::size_t coordinates) const {
    return value(slot) + value(slot + coordinates + 1);
  }

  std::uint64_t map(bool is_load) const { return is_load ? address_behind(1, rank) : first_address(); }
  std::uint64_t shared(bool is_load) const {
    return (is_load ? first_address() : address_behind(1 + rank, 0)) & 0xffffffffu;
  }
  std::uint64_t mbarrier() const { return address_behind(3 + rank, 0); }

  std::array<std::int32_t, TensorMap::kMostRank> coordinates(bool is_load) const {
    std::array<std::int32_t, TensorMap::kMostRank> all{};
    for (std::size_t i = 0; i < rank; ++i) all[i] = static_cast<std::int32_t>(value((is_load ? 2 : 1) + i));
    return all;
  }
};

TensorMap map_at(Thread& thread, const Instruction& in, std::uint64_t address, std::size_t rank) {
  constexpr std::size_t kHalf = TensorMap::kBytes / 2;
  std::array<unsigned char, TensorMap::kBytes> bytes;
  for (std::size_t done = 0; done < bytes.size(); done += kHalf) {
    std::memcpy(bytes.data() + done, locate<Space::generic, Access::load>(thread, in, address + done, kHalf),
                kHalf);
  }
  TensorMap map;
  std::memcpy(&map, bytes.data(), sizeof(map));
  if (map.mark != TensorMap::kMark || map.element_bytes == 0)
    throw KernelFault{Fault::trap,
                      *in.text + " with " + hexadecimal(address) + ", where there is no map of a tensor"};
  if (map.rank != rank)
    throw KernelFault{Fault::trap,
                      *in.text + " with a map of a tensor of " + std::to_string(map.rank) + " dimensions"};
  return map;
}

std::uint32_t shared_side(const Thread& thread, const Instruction& in, bool is_load) {
  const auto shared = static_cast<std::uint32_t>(Operands(thread, in).shared(is_load));
  if (shared % kSharedAlignment != 0) report_misaligned(in, shared, kSharedAlignment);
  return shared;
}

// All of both sides is checked.
template <bool is_load>
std::vector<Copy> copies_of(Thread& thread, const Instruction& in) {
  std::vector<Copy> copies;
  for (const TensorPiece& piece : pieces_of_tensor_copy(thread, in, is_load)) {
    unsigned char *const shared = locate < Space::shared,
                         is_load ? Access::store : Access::load > (thread, in, piece.shared, piece.bytes);
    if (!piece.global) {
      if (is_load) copies.push_back({shared, nullptr, piece.bytes});
      continue;
    }
    unsigned char *const global = locate < Space::global,
                         is_load ? Access::load : Access::store > (thread, in, *piece.global, piece.bytes);
    copies.push_back(is_load ? Copy{shared, global, piece.bytes} : Copy{global, shared, piece.bytes});
  }
  return copies;
}

void load(Thread& thread, const Instruction& in) {
  const Operands operands(thread, in);
  const TensorMap map = map_at(thread, in, operands.map(true), operands.rank);
  const MBarrierPlace place = place_of_mbarrier<Space::shared>(thread, in, operands.mbarrier());
  read_mbarrier(*thread.block, place, in);
  thread.block->promises().add({place, nullptr, 0, copies_of<true>(thread, in), map.bytes_of_box()});
}

void store(Thread& thread, const Instruction& in) {
  for (const Copy& copy : copies_of<false>(thread, in)) thread.bulk_copies.begin(copy);
}

bool has_rank(const Draft& draft, std::size_t address, std::size_t rank) {
  return draft.is(address, Operand::Kind::address) && draft.operands[address].slots.size() == 1 + rank;
}

}  // namespace tensor_copies

std::vector<TensorPiece> pieces_of_tensor_copy(Thread& thread, const Instruction& in, bool is_load) {
  using namespace tensor_copies;
  const Operands operands(thread, in);
  const TensorMap map = map_at(thread, in, operands.map(is_load), operands.rank);
  const auto begin = operands.coordinates(is_load);
  return map.pieces(begin, shared_side(thread, in, is_load));
}

std::uint64_t mbarrier_of_tensor_copy(const Thread& thread, const Instruction& in) {
  return tensor_copies::Operands(thread, in).mbarrier();
}

Handler select_tensor_copy(Draft& draft) {
  using namespace tensor_copies;
  Modifiers& modifiers = draft.modifiers;
  if (modifiers.take("prefetch")) return select_no_effect(draft);
  const std::optional<int> dimensions = modifiers.take_one({"1d", "2d", "3d", "4d", "5d"});
  const bool has_policy = modifiers.has("L2::cache_hint");
  modifiers.take_hints();
  if (!modifiers.take("tensor") || !dimensions) return nullptr;
  const std::size_t rank = static_cast<std::size_t>(*dimensions) + 1;
  if (has_policy && !draft.operands.empty()) draft.operands.pop_back();
  modifiers.take("tile");
  if (!modifiers.take("global")) return nullptr;
  if (modifiers.take("bulk_group"))
    return modifiers.take("shared::cta") && draft.operands.size() == 2 && has_rank(draft, 0, rank) &&
                   draft.is(1, Operand::Kind::address)
               ? &store
               : nullptr;
  if (!modifiers.take("mbarrier::complete_tx::bytes") || draft.operands.size() != 3 ||
      !has_rank(draft, 1, rank) || !draft.is(0, Operand::Kind::address) ||
      !draft.is(2, Operand::Kind::address))
    return nullptr;
  return modifiers.take("shared::cluster") || modifiers.take("shared::cta") ? &load : nullptr;
}

}  // namespace opgate::simulator
