// cp.async.bulk.tensor: copies of a box of a tensor, which a map describes. One thread begins them.
#include "instructions/tensor_copies.h"

#include <array>
#include <cstring>
#include <optional>
#include <utility>

#include "instructions/bulk_copies.h"
#include "instructions/bulk_reductions.h"
#include "instructions/select.h"
#include "instructions/selectors.h"
#include "machine/cluster.h"
#include "machine/mbarrier.h"
#include "machine/memory/memory.h"
#include "numbers/small_floats.h"

namespace opgate::simulator {
namespace tensor_copies {

constexpr std::uint32_t kSharedAlignment = 128;
constexpr std::int64_t kUnit = 16;  // bytes of a row that are copied together

// The operands of a load are the target, the map with its coordinates, and the mbarrier; those of a store the
// map and the source. After each address, and after the coordinates of the map, is a slot with the offset.
// After the mbarrier are the offsets of im2col or the mask of blocks. An instruction does not hold the rank,
// which its opcode names.
struct Operands {
  const Thread& thread;
  const Instruction& in;
  std::size_t rank;
  bool is_im2col;

  Operands(const Thread& of, const Instruction& instruction)
      : thread(of),
        in(instruction),
        rank(rank_of(*instruction.text)),
        is_im2col(instruction.text->find(".im2col") != std::string::npos) {}

  static std::size_t rank_of(const std::string& opcode) {
    const std::size_t at = opcode.find(".tensor.") + std::string_view(".tensor.").size();
    return static_cast<std::size_t>(opcode[at] - '0');
  }

  std::uint64_t value(std::size_t slot) const { return thread.registers[in.slot(slot)]; }
  std::uint64_t address(std::size_t slot, std::size_t coordinates = 0) const {
    return value(slot) + value(slot + coordinates + 1);
  }

  std::size_t slot_of_map(bool is_load) const { return is_load ? 2 : 0; }
  std::uint64_t map(bool is_load) const { return address(slot_of_map(is_load), rank); }
  std::uint64_t shared(bool is_load) const { return address(is_load ? 0 : 2 + rank) & 0xffffffffu; }
  std::uint64_t mbarrier() const { return address(4 + rank); }
  std::uint64_t mask() const { return value(6 + rank); }

  std::array<std::int32_t, TensorMap::kMostRank> coordinates(bool is_load) const {
    std::array<std::int32_t, TensorMap::kMostRank> all{};
    for (std::size_t i = 0; i < rank; ++i)
      all[i] = static_cast<std::int32_t>(value(slot_of_map(is_load) + 1 + i));
    return all;
  }

  std::array<std::uint16_t, TensorMap::kMostPixelDimensions> offsets() const {
    std::array<std::uint16_t, TensorMap::kMostPixelDimensions> all{};
    for (std::size_t i = 0; is_im2col && i + 2 < rank; ++i)
      all[i] = static_cast<std::uint16_t>(value(6 + rank + i));
    return all;
  }
};

TensorMap map_at(Thread& thread, const Instruction& in, const Operands& operands, bool is_load) {
  const std::uint64_t address = operands.map(is_load);
  constexpr std::size_t kHalf = TensorMap::kBytes / 2;
  std::array<unsigned char, TensorMap::kBytes> bytes;
  for (std::size_t done = 0; done < bytes.size(); done += kHalf) {
    std::memcpy(bytes.data() + done, locate<Space::generic, Access::load>(thread, in, address + done, kHalf),
                kHalf);
  }
  TensorMap map;
  std::memcpy(&map, bytes.data(), sizeof(map));
  if (map.mark != TensorMap::kMark || map.type == Type::none)
    fail(in, Fault::trap, " with " + hexadecimal(address) + ", where there is no map of a tensor");
  if (map.rank != operands.rank)
    fail(in, Fault::trap, " with a map of a tensor of " + std::to_string(map.rank) + " dimensions");
  if ((map.pixels != 0) != operands.is_im2col)
    fail(in, Fault::trap,
         std::string(" with a map of a tensor that is ") + (map.pixels != 0 ? "" : "not ") + "for im2col");
  return map;
}

// PTX does not say so, but cards do: a box begins where a unit of its row begins, also outside of the tensor.
void require_whole_units(const TensorMap& map, std::int32_t begin, const Instruction& in) {
  if (map.slice_bytes != 0) return;  // slices are whole units
  const std::int64_t bytes = std::int64_t{begin} * map.element_bytes();
  if (bytes % kUnit == 0) return;
  fail(in, Fault::illegal_instruction,
       " from coordinate " + std::to_string(begin) + " of dimension 0, byte " + std::to_string(bytes) +
           " of a row, which is not a multiple of " + std::to_string(kUnit));
}

// A card says so of dimension 0. The other ones are not known yet.
void require_store_behind_begin(std::int32_t begin, const Instruction& in) {
  if (begin < 0)
    fail(in, Fault::illegal_instruction,
         " to coordinate " + std::to_string(begin) + " of dimension 0, before the tensor");
}

std::uint32_t shared_side(const Thread& thread, const Instruction& in, bool is_load) {
  const auto shared = static_cast<std::uint32_t>(Operands(thread, in).shared(is_load));
  if (shared % kSharedAlignment != 0) report_misaligned(in, shared, kSharedAlignment);
  return shared;
}

// As an H200 does; numbers in the middle go where those of cvt.rn go, whose NaN this is as well.
void round_to_tf32(unsigned char* to, const unsigned char* from, std::size_t bytes) {
  constexpr int kFractionBits = 10;
  constexpr int kExponentBits = 8;
  constexpr int kBitsBelow = 23 - kFractionBits;
  for (std::size_t at = 0; at < bytes; at += sizeof(float)) {
    float number;
    std::memcpy(&number, from + at, sizeof(number));
    const auto bits = static_cast<std::uint32_t>(
        encode(number, kFractionBits, kExponentBits, Rounding::nearest) << kBitsBelow);
    std::memcpy(to + at, &bits, sizeof(bits));
  }
}

// The immediate of a store is 1 more than the operation of a reduction, which the type of the map completes.
Combine combine_of(const TensorMap& map, const Instruction& in, bool is_load) {
  if (is_load) return map.type == Type::tf32 ? &round_to_tf32 : nullptr;
  if (map.type == Type::tf32 || map.flushes || map.slice_bytes != 0)
    fail(in, Fault::unsupported, " with a map of a tensor that is interleaved, or of .tf32 or .ftz");
  if (in.immediate == 0) return nullptr;
  const std::optional<std::size_t> reduction =
      bulk_reduction(static_cast<AtomicOperation>(in.immediate - 1), map.type, /*in_shared=*/false);
  if (reduction) return combine_of_bulk_reduction(*reduction);
  fail(in, Fault::trap, " with a map of a tensor whose type has no such operation");
}

// What a load puts where the tensor has nothing: zeros, or a NaN whose halves are NaN, too.
const unsigned char* filling_of(const TensorMap& map) {
  static constexpr auto kNaN = [] {
    std::array<unsigned char, kUnit> bytes{};
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = i % 2 == 0 ? 0xf7 : 0x7f;
    return bytes;
  }();
  return map.fills_with_nan ? kNaN.data() : nullptr;
}

// All of both sides is checked. `place` makes of an address of shared memory that of the block which is
// meant.
template <bool is_load, class Place>
std::vector<Copy> copies_of(Thread& thread, const Instruction& in, Place place) {
  const TensorMap map = map_at(thread, in, Operands(thread, in), is_load);
  const Combine combine = combine_of(map, in, is_load);
  std::vector<Copy> copies;
  for (const TensorPiece& piece : pieces_of_tensor_copy(thread, in, is_load)) {
    unsigned char *const shared = locate < Space::shared,
                         is_load ? Access::store
                                 : Access::load > (thread, in, place(piece.shared), piece.bytes);
    if (!piece.global) {
      if (is_load) copies.push_back({shared, filling_of(map), piece.bytes});
      continue;
    }
    unsigned char *const global = locate < Space::global,
                         is_load ? Access::load : Access::store > (thread, in, *piece.global, piece.bytes);
    copies.push_back(is_load ? Copy{shared, global, piece.bytes, combine}
                             : Copy{global, shared, piece.bytes, combine});
  }
  return copies;
}

constexpr auto kAsGiven = [](std::uint64_t address) { return address; };

template <class Place>
void promise(Thread& thread, const Instruction& in, Place place) {
  const Operands operands(thread, in);
  const TensorMap map = map_at(thread, in, operands, /*is_load=*/true);
  const SharedPlace mbarrier = place_of_mbarrier<Space::shared>(thread, in, place(operands.mbarrier()));
  read_mbarrier(mbarrier, in);
  mbarrier.block->promises().add(
      {mbarrier, nullptr, 0, copies_of<true>(thread, in, place), map.bytes_of_box()});
}

void load(Thread& thread, const Instruction& in) { promise(thread, in, kAsGiven); }

// To the same place in each block of the mask, and for its mbarrier.
void load_for_blocks(Thread& thread, const Instruction& in) {
  for_each_rank(Operands(thread, in).mask(), [&](std::size_t rank) {
    promise(thread, in, [rank](std::uint64_t address) { return address_in_block(address, rank); });
  });
}

void store(Thread& thread, const Instruction& in) {
  for (const Copy& copy : copies_of<false>(thread, in, kAsGiven)) thread.bulk_copies.begin(copy);
}

bool has_rank(const Draft& draft, std::size_t address, std::size_t rank) {
  return draft.is(address, Operand::Kind::address) && draft.operands[address].slots.size() == 1 + rank;
}

bool has_offsets(const Draft& draft, std::size_t operand, std::size_t rank) {
  return rank > 2 && draft.is(operand, Operand::Kind::vector) &&
         draft.operands[operand].slots.size() == rank - 2;
}

}  // namespace tensor_copies

std::vector<TensorPiece> pieces_of_tensor_copy(Thread& thread, const Instruction& in, bool is_load) {
  using namespace tensor_copies;
  const Operands operands(thread, in);
  const TensorMap map = map_at(thread, in, operands, is_load);
  const auto begin = operands.coordinates(is_load);
  require_whole_units(map, begin[0], in);
  if (!is_load) require_store_behind_begin(begin[0], in);
  return map.pieces(begin, shared_side(thread, in, is_load), operands.offsets());
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
  const bool is_im2col = modifiers.take("im2col");
  if (!is_im2col) modifiers.take("tile");
  draft.keeps_immediate = true;
  if (modifiers.take("reduce")) {
    const std::optional<AtomicOperation> operation = take_bulk_operation(modifiers);
    if (!operation || !modifiers.has("bulk_group")) return nullptr;
    draft.instruction.immediate = static_cast<std::int64_t>(*operation) + 1;
  }
  if (!modifiers.take("global")) return nullptr;
  if (modifiers.take("bulk_group"))
    return !is_im2col && modifiers.take("shared::cta") && draft.operands.size() == 2 &&
                   has_rank(draft, 0, rank) && draft.is(1, Operand::Kind::address)
               ? &store
               : nullptr;
  const bool is_for_blocks = !is_im2col && modifiers.take("multicast::cluster");
  if (!modifiers.take("mbarrier::complete_tx::bytes") ||
      draft.operands.size() != (is_for_blocks || is_im2col ? 4 : 3) ||
      (is_im2col && !has_offsets(draft, 3, rank)) || !has_rank(draft, 1, rank) ||
      !draft.is(0, Operand::Kind::address) || !draft.is(2, Operand::Kind::address))
    return nullptr;
  if (is_for_blocks) return modifiers.take("shared::cluster") ? &load_for_blocks : nullptr;
  return modifiers.take("shared::cluster") || modifiers.take("shared::cta") ? &load : nullptr;
}

}  // namespace opgate::simulator
