// ld and st, also of vectors.
#include <cstring>

#include "instructions/effects.h"
#include "instructions/flows.h"
#include "instructions/select.h"
#include "instructions/selectors.h"
#include "machine/memory/memory.h"

namespace opgate::simulator {
namespace loads {

// Eight lanes and their address do not fit into an instruction.
template <int lanes>
Slot slot_of(const Instruction& in, int operand) {
  const auto at = static_cast<std::size_t>(operand);
  return lanes < 8 ? in.slots[at] : in.slot(at);
}

template <int lanes>
std::uint64_t address(const Thread& thread, const Instruction& in, int operand) {
  return thread.registers[slot_of<lanes>(in, operand)] + static_cast<std::uint64_t>(in.immediate);
}

// T decides how a narrow value fills its register.
template <class T, Space space, int lanes>
void load(Thread& thread, const Instruction& in) {
  const unsigned char* const from =
      locate<space, Access::load>(thread, in, address<lanes>(thread, in, lanes), lanes * sizeof(T));
  for (int i = 0; i < lanes; ++i) {
    T value;
    std::memcpy(&value, from + static_cast<std::size_t>(i) * sizeof(T), sizeof(T));
    thread.registers[slot_of<lanes>(in, i)] = to_bits(value);
  }
}

template <class T, Space space, int lanes>
void store(Thread& thread, const Instruction& in) {
  unsigned char* const to =
      locate<space, Access::store>(thread, in, address<lanes>(thread, in, 0), lanes * sizeof(T));
  for (int i = 0; i < lanes; ++i) {
    const T value = from_bits<T>(thread.registers[slot_of<lanes>(in, i + 1)]);
    std::memcpy(to + static_cast<std::size_t>(i) * sizeof(T), &value, sizeof(T));
  }
}

// `choose.operator()<T, space, lanes>()`
template <Space space, class Choose>
Handler with_lanes(Type type, int lanes, Choose choose) {
  const auto of_lanes = [&]<int count>() {
    return for_integer(type, [&]<class T>() { return choose.template operator()<T, space, count>(); });
  };
  if (lanes != 8) return for_value<1, 2, 4>(lanes, of_lanes);
  if constexpr (space == Space::global || space == Space::generic)
    return bytes_of(type) <= 4 ? of_lanes.template operator()<8>() : nullptr;
  return nullptr;
}

template <class Choose>
Handler with_space(Space space, Type type, int lanes, Choose choose) {
  using enum Space;
  return for_value<generic, global, shared, local, parameter>(
      space, [&]<Space in>() { return with_lanes<in>(type, lanes, choose); });
}

// In memory a number is its bits.
Type as_integer(Type type) {
  switch (type) {
    case Type::f16:
    case Type::bf16:
      return Type::u16;
    case Type::f32:
    case Type::f16x2:
    case Type::bf16x2:
      return Type::u32;
    case Type::f64:
      return Type::u64;
    default:
      return type;
  }
}

// What a function gets and hands over in calls lies in its local memory; a kernel's parameters are a space of
// their own.
Space space_of_parameter(const Operand& address, bool in_kernel) {
  return address.names_local || !in_kernel ? Space::local : Space::parameter;
}

// A hint for the cache may follow as one more operand.
void drop_hint(Draft& draft, std::size_t expected) {
  if (draft.modifiers.has("L2::cache_hint") && draft.operands.size() > expected)
    draft.operands.resize(expected);
}

struct Chosen {
  Space space;
  Type type;
  int lanes;
};

Chosen take(Draft& draft, std::size_t address) {
  Modifiers& modifiers = draft.modifiers;
  drop_hint(draft, 2);
  modifiers.take_hints();
  Space space = modifiers.take_space();
  if (space == Space::parameter) space = space_of_parameter(draft.operands[address], draft.in_kernel);
  const int lanes = modifiers.take_lanes();
  return {space, as_integer(modifiers.take_type()), lanes};
}

}  // namespace loads

static Handler select_load(Draft& draft) {
  if (!draft.is(1, Operand::Kind::address)) return nullptr;
  const auto [space, type, lanes] = loads::take(draft, 1);
  if (draft.operands[0].slots.size() != static_cast<std::size_t>(lanes)) return nullptr;
  return loads::with_space(space, type, lanes,
                           []<class T, Space in, int count>() { return &loads::load<T, in, count>; });
}

static Handler select_store(Draft& draft) {
  if (draft.modifiers.take("async")) return select_async_store(draft);
  if (!draft.is(0, Operand::Kind::address)) return nullptr;
  const auto [space, type, lanes] = loads::take(draft, 0);
  if (draft.operands[1].slots.size() != static_cast<std::size_t>(lanes)) return nullptr;
  return loads::with_space(space, type, lanes,
                           []<class T, Space in, int count>() { return &loads::store<T, in, count>; });
}

static Effect effect_of_load(const Modifiers& words) { return effect_of_access(words, Effect::Kind::load); }

static Effect effect_of_store(const Modifiers& words) {
  return words.has("async") ? effect_of_async_store(words) : effect_of_access(words, Effect::Kind::store);
}

std::vector<OpcodeRow> opcodes_of_loads() {
  return {
      {{"ld", "ldu"}, {&select_load, 2, 3, Result::first, Waits::never, &effect_of_load, &flow_of_number}},
      {"st", {&select_store, 2, 3, Result::none, Waits::never, &effect_of_store, &flow_of_number}},
  };
}

}  // namespace opgate::simulator
