// mov, also of parts of registers, and between the kinds of addresses.
#include <array>

#include "instructions/effects.h"
#include "instructions/flows.h"
#include "instructions/select.h"
#include "instructions/selectors.h"

namespace opgate::simulator {
namespace moves {

template <class T>
void copy(Thread& thread, const Instruction& in) {
  write(thread, in, 0, read<T>(thread, in, 1));
}

// {a, b, ...} of `parts` elements of one register, lowest bits first.
template <class Part, int parts>
void split(Thread& thread, const Instruction& in) {
  const auto value = read<std::uint64_t>(thread, in, parts);
  for (int i = 0; i < parts; ++i)
    write(thread, in, i, static_cast<Part>(value >> (8 * sizeof(Part) * static_cast<unsigned>(i))));
}

template <class Part, int parts>
void join(Thread& thread, const Instruction& in) {
  std::uint64_t value = 0;
  for (int i = 0; i < parts; ++i)
    value |= std::uint64_t{read<Part>(thread, in, i + 1)} << (8 * sizeof(Part) * static_cast<unsigned>(i));
  write(thread, in, 0, value);
}

// The elements of a vector, which may change their places.
template <std::size_t lanes>
void copy_vector(Thread& thread, const Instruction& in) {
  std::array<std::uint64_t, lanes> values;
  for (std::size_t i = 0; i < lanes; ++i) values[i] = thread.registers[in.slot(lanes + i)];
  for (std::size_t i = 0; i < lanes; ++i) thread.registers[in.slot(i)] = values[i];
}

Handler of_vectors(const Draft& draft, std::size_t lanes) {
  if (draft.operands[0].slots.size() != lanes || draft.operands[1].slots.size() != lanes) return nullptr;
  if (lanes == 2) return &copy_vector<2>;
  return lanes == 4 ? &copy_vector<4> : nullptr;
}

Handler of_parts(std::size_t bytes, std::size_t parts, bool splits) {
  if (bytes == 2 && parts == 2) return splits ? &split<std::uint8_t, 2> : &join<std::uint8_t, 2>;
  if (bytes == 4 && parts == 2) return splits ? &split<std::uint16_t, 2> : &join<std::uint16_t, 2>;
  if (bytes == 4 && parts == 4) return splits ? &split<std::uint8_t, 4> : &join<std::uint8_t, 4>;
  if (bytes == 8 && parts == 2) return splits ? &split<std::uint32_t, 2> : &join<std::uint32_t, 2>;
  if (bytes == 8 && parts == 4) return splits ? &split<std::uint16_t, 4> : &join<std::uint16_t, 4>;
  return nullptr;
}

// The immediate is what must be added.
void shift_address(Thread& thread, const Instruction& in) {
  write(thread, in, 0, read<std::uint64_t>(thread, in, 1) + static_cast<std::uint64_t>(in.immediate));
}

void is_in_space(Thread& thread, const Instruction& in) {
  const Space space = space_of(read<std::uint64_t>(thread, in, 1));
  write<std::uint8_t>(thread, in, 0, space == static_cast<Space>(in.immediate) ? 1 : 0);
}

}  // namespace moves

static Handler select_move(Draft& draft) {
  using namespace moves;
  const auto lanes = static_cast<std::size_t>(draft.modifiers.take_lanes());
  const Type type = draft.modifiers.take_type();
  if (lanes > 1) return of_vectors(draft, lanes);
  const bool splits = draft.is(0, Operand::Kind::vector);
  if (splits || draft.is(1, Operand::Kind::vector))
    return of_parts(bytes_of(type), draft.operands[splits ? 0 : 1].slots.size(), splits);
  if (type == Type::pred) return &copy<bool>;
  return for_bytes(bytes_of(type), []<class T>() { return &copy<T>; });
}

static Handler select_address_conversion(Draft& draft) {
  Modifiers& modifiers = draft.modifiers;
  const bool from_generic = modifiers.take("to");
  const Space space = modifiers.take_space();
  // What a function is handed over lies in local memory.
  const std::uint64_t window =
      window_of(space == Space::parameter && !draft.in_kernel ? Space::local : space);
  draft.instruction.immediate = static_cast<std::int64_t>(from_generic ? 0 - window : window);
  const Type type = modifiers.take_type();
  return type == Type::u64 || type == Type::b64 ? &moves::shift_address : nullptr;
}

static Handler select_isspacep(Draft& draft) {
  // Constant memory has no window of its own here.
  if (draft.modifiers.has("const")) return nullptr;
  draft.instruction.immediate = static_cast<std::int64_t>(draft.modifiers.take_space());
  return &moves::is_in_space;
}

std::vector<OpcodeRow> opcodes_of_moves() {
  return {
      {"mov", {&select_move, 2, 2, Result::first, Waits::never, &no_effect, &flow_of_move}},
      {"cvta", {&select_address_conversion, 2, 2, Result::first, Waits::never, &no_effect, &flow_of_number}},
      {"isspacep", {&select_isspacep, 2, 2, Result::first, Waits::never, &no_effect, &flow_of_condition}},
  };
}

}  // namespace opgate::simulator
