// tensormap: kernels that make or change a map of a tensor.
#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

#include "instructions/effects.h"
#include "instructions/flows.h"
#include "instructions/select.h"
#include "instructions/selectors.h"
#include "machine/memory/memory.h"
#include "machine/memory/tensor_map.h"

namespace opgate::simulator {
namespace tensor_maps {

enum class Field : std::uint8_t {
  global_address,
  rank,
  box_dim,
  global_dim,
  global_stride,
  element_stride,
  elemtype,
  interleave_layout,
  swizzle_mode,
  fill_mode,
};

// .u8, .u16, .u32, .s32, .u64, .s64, .f16, .f32, .f32.ftz, .f64, .bf16, .tf32 and .tf32.ftz. The others,
// which are smaller than a byte, are not simulated.
constexpr std::array kElementTypes{Type::u8,   Type::u16,  Type::u32, Type::s32, Type::u64,
                                   Type::s64,  Type::f16,  Type::f32, Type::f32, Type::f64,
                                   Type::bf16, Type::tf32, Type::tf32};
constexpr std::array<std::uint64_t, 2> kFlushingTypes{8, 12};
constexpr std::array<std::uint8_t, 4> kRowBytes{0, 32, 64, 128};
constexpr std::array kFillsWithNaN{false, true};

[[noreturn]] void refuse(const Instruction& in, std::uint64_t value) {
  fail(in, Fault::unsupported, " with " + std::to_string(value));
}

template <class T, std::size_t size>
T known(const std::array<T, size>& values, std::uint64_t index, const Instruction& in) {
  if (index >= size) refuse(in, index);
  return values[index];
}

void set(TensorMap& map, Field field, std::size_t dimension, std::uint64_t value, const Instruction& in) {
  switch (field) {
    case Field::global_address:
      map.address = value;
      return;
    case Field::rank:
      map.rank = static_cast<std::uint8_t>(std::min<std::uint64_t>(value, TensorMap::kMostRank - 1) + 1);
      return;
    case Field::box_dim:
      map.box[dimension] = static_cast<std::uint16_t>(value);
      return;
    case Field::global_dim:
      map.sizes[dimension] = static_cast<std::uint32_t>(value);
      return;
    case Field::global_stride:
      map.strides[std::min(dimension + 1, TensorMap::kMostRank - 1)] = value;
      return;
    case Field::element_stride:
      map.steps[dimension] = static_cast<std::uint8_t>(value);
      return;
    case Field::elemtype:
      map.type = known(kElementTypes, value, in);
      map.flushes = std::find(kFlushingTypes.begin(), kFlushingTypes.end(), value) != kFlushingTypes.end();
      return;
    case Field::swizzle_mode:
      map.row_bytes = known(kRowBytes, value, in);
      return;
    case Field::fill_mode:
      map.fills_with_nan = known(kFillsWithNaN, value, in);
      return;
    case Field::interleave_layout:
      if (value != 0) refuse(in, value);
      return;
  }
}

// Two halves, because an access must be aligned to its size, and maps to 64 bytes.
template <Space space, Access access, class Visit>
void for_each_half(Thread& thread, const Instruction& in, std::uint64_t address, Visit visit) {
  constexpr std::size_t kHalf = TensorMap::kBytes / 2;
  for (std::size_t done = 0; done < TensorMap::kBytes; done += kHalf)
    visit(done, locate<space, access>(thread, in, address + done, kHalf), kHalf);
}

using Bytes = std::array<unsigned char, TensorMap::kBytes>;

template <Space space>
Bytes bytes_at(Thread& thread, const Instruction& in, std::uint64_t address) {
  Bytes bytes;
  for_each_half<space, Access::load>(thread, in, address,
                                     [&](std::size_t at, const unsigned char* host, std::size_t count) {
                                       std::memcpy(bytes.data() + at, host, count);
                                     });
  return bytes;
}

template <Space space>
void put_bytes(Thread& thread, const Instruction& in, std::uint64_t address, const Bytes& bytes) {
  for_each_half<space, Access::store>(thread, in, address,
                                      [&](std::size_t at, unsigned char* host, std::size_t count) {
                                        std::memcpy(host, bytes.data() + at, count);
                                      });
}

std::uint64_t address_at(const Thread& thread, const Instruction& in, int slot) {
  return read<std::uint64_t>(thread, in, slot) + read<std::uint64_t>(thread, in, slot + 1);
}

// replace.tile.field [map], dimension, value, where some fields have no dimension. The immediate is the
// field.
template <Space space, bool has_dimension>
void replace(Thread& thread, const Instruction& in) {
  const std::uint64_t address = address_at(thread, in, 0);
  Bytes bytes = bytes_at<space>(thread, in, address);
  TensorMap map;
  std::memcpy(&map, bytes.data(), sizeof(map));
  const std::size_t dimension = has_dimension ? read<std::uint32_t>(thread, in, 2) : 0;
  if (dimension >= TensorMap::kMostRank) refuse(in, dimension);
  set(map, static_cast<Field>(in.immediate), dimension,
      read<std::uint64_t>(thread, in, has_dimension ? 3 : 2), in);
  map.mark = TensorMap::kMark;
  std::memcpy(bytes.data(), &map, sizeof(map));
  put_bytes<space>(thread, in, address, bytes);
}

// cp_fenceproxy [to], [from], bytes: from shared to global memory.
void copy(Thread& thread, const Instruction& in) {
  const auto count = read<std::uint32_t>(thread, in, 4);
  if (count != TensorMap::kBytes) refuse(in, count);
  put_bytes<Space::global>(thread, in, address_at(thread, in, 0),
                           bytes_at<Space::shared>(thread, in, address_at(thread, in, 2)));
}

Handler select_copy(Draft& draft) {
  Modifiers& modifiers = draft.modifiers;
  const bool is_to_global = modifiers.take("global") && modifiers.take("shared::cta");
  modifiers.take("tensormap::generic");
  modifiers.take("sync");
  modifiers.take("aligned");
  modifiers.take_hints();
  draft.keeps_immediate = true;
  return is_to_global && draft.is(0, Operand::Kind::address) && draft.is(1, Operand::Kind::address) ? &copy
                                                                                                    : nullptr;
}

Handler select_replace(Draft& draft) {
  Modifiers& modifiers = draft.modifiers;
  const std::optional<int> field =
      modifiers.take_one({"global_address", "rank", "box_dim", "global_dim", "global_stride",
                          "element_stride", "elemtype", "interleave_layout", "swizzle_mode", "fill_mode"});
  const bool is_known = modifiers.take("tile") && modifiers.take("b1024");
  const Space space = modifiers.take_space();
  modifiers.take_type();
  if (!field || !is_known || !draft.is(0, Operand::Kind::address) || draft.operands.size() < 2)
    return nullptr;
  draft.keeps_immediate = true;
  draft.instruction.immediate = *field;
  const bool has_dimension = draft.operands.size() == 3;
  return for_value<Space::shared, Space::global, Space::generic>(
      space, [&]<Space in>() { return has_dimension ? &replace<in, true> : &replace<in, false>; });
}

}  // namespace tensor_maps

static Handler select_tensor_map(Draft& draft) {
  if (draft.modifiers.take("replace")) return tensor_maps::select_replace(draft);
  return draft.modifiers.take("cp_fenceproxy") ? tensor_maps::select_copy(draft) : nullptr;
}

static Effect effect_of_tensor_map(const Modifiers&) {
  return {.kind = Effect::Kind::tensor_map, .makes_visible = true};
}

std::vector<OpcodeRow> opcodes_of_tensor_maps() {
  return {
      {"tensormap",
       {&select_tensor_map, 2, 3, Result::none, Waits::never, &effect_of_tensor_map, &flow_of_number}},
  };
}

}  // namespace opgate::simulator
