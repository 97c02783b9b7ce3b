// atom and red. Threads of a block run one after the other, so that every access is whole. Blocks that run at
// the same time only do what commutes.
#include <array>
#include <atomic>
#include <cstring>

#include "instructions/effects.h"
#include "instructions/flows.h"
#include "instructions/select.h"
#include "instructions/selectors.h"
#include "machine/memory/memory.h"
#include "numbers/atomic_operations.h"

namespace opgate::simulator {
namespace atomics {

// Gives what was there before.
template <AtomicOperation operation, class T>
T change_at_once(unsigned char* place, T value) {
  const std::atomic_ref<T> shared(*reinterpret_cast<T*>(place));
  T old = shared.load(std::memory_order_relaxed);
  while (!shared.compare_exchange_weak(old, combined<operation>(old, value), std::memory_order_relaxed)) {
  }
  return old;
}

// The lanes are those of a vector, or of a pair of small numbers in one register. `in.immediate` is the
// offset of the address.
template <class T, AtomicOperation operation, Space space, bool returns, int lanes, int in_register>
void execute(Thread& thread, const Instruction& in) {
  constexpr std::size_t kLanes = lanes;
  constexpr std::size_t kAddress = returns ? kLanes : 0;
  constexpr std::size_t kBytes = sizeof(T) * in_register;
  unsigned char* const at =
      locate<space, Access::atomic>(thread, in, address_in(thread, in, kAddress), kLanes * kBytes);
  // A register may be both a value and a result.
  std::array<std::uint64_t, kLanes> values;
  for (std::size_t lane = 0; lane < kLanes; ++lane)
    values[lane] = thread.registers[in.slot(kAddress + 1 + lane)];
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    std::uint64_t before = 0;
    if constexpr (std::is_integral_v<T> && commutes(operation) && space != Space::shared) {
      if (thread.block->grid().is_spread()) {
        before = bits_of(change_at_once<operation>(at + lane * kBytes, static_cast<T>(values[lane])));
        if constexpr (returns) thread.registers[in.slot(lane)] = before;
        continue;
      }
    }
    for (int part = 0; part < in_register; ++part) {
      unsigned char* const place = at + lane * kBytes + static_cast<std::size_t>(part) * sizeof(T);
      T old;
      std::memcpy(&old, place, sizeof(T));
      const std::uint64_t piece = values[lane] >> (8 * sizeof(T) * static_cast<unsigned>(part) % 64);
      T value;
      std::memcpy(&value, &piece, sizeof(T));
      const T result = combined<operation>(old, value);
      std::memcpy(place, &result, sizeof(T));
      before |= bits_of(old) << (8 * sizeof(T) * static_cast<unsigned>(part) % 64);
    }
    if constexpr (returns) thread.registers[in.slot(lane)] = before;
  }
}

template <class T, Space space>
void compare_and_swap(Thread& thread, const Instruction& in) {
  unsigned char* const at = locate<space, Access::atomic>(thread, in, address_of(thread, in, 1), sizeof(T));
  T old;
  std::memcpy(&old, at, sizeof(T));
  if (old == read<T>(thread, in, 2)) {
    const T value = read<T>(thread, in, 3);
    std::memcpy(at, &value, sizeof(T));
  }
  write(thread, in, 0, old);
}

struct Form {
  Type type;
  bool returns;
  int lanes;
};

template <class T, AtomicOperation operation, Space space, int in_register = 1>
Handler with_form(const Form& form) {
  const auto of_lanes = [&]<int lanes>() -> Handler {
    return form.returns ? &execute<T, operation, space, true, lanes, in_register>
                        : &execute<T, operation, space, false, lanes, in_register>;
  };
  if (form.lanes == 1) return of_lanes.template operator()<1>();
  if (space != Space::global && space != Space::generic) return nullptr;
  if constexpr (sizeof(T) * in_register == 2) return for_value<2, 4, 8>(form.lanes, of_lanes);
  return for_value<2, 4>(form.lanes, of_lanes);
}

template <AtomicOperation operation, Space space>
Handler of_integers(const Form& form) {
  if (form.lanes != 1) return nullptr;
  switch (form.type) {
    case Type::b32:
    case Type::u32:
      return with_form<std::uint32_t, operation, space>(form);
    case Type::b64:
    case Type::u64:
      return with_form<std::uint64_t, operation, space>(form);
    case Type::s32:
      return with_form<std::int32_t, operation, space>(form);
    case Type::s64:
      return with_form<std::int64_t, operation, space>(form);
    default:
      return nullptr;
  }
}

template <AtomicOperation operation, Space space>
Handler of_small_numbers(const Form& form) {
  const Handler of_floats = for_small_float(form.type, [&]<class Small, bool is_pair>() {
    return with_form < Small, operation, space, is_pair ? 2 : 1 > (form);
  });
  return of_floats != nullptr ? of_floats : of_integers<operation, space>(form);
}

template <Space space>
Handler with_operation(const Form& form, AtomicOperation operation) {
  using enum AtomicOperation;
  if ((operation == increment || operation == decrement) && form.type != Type::u32) return nullptr;
  if (operation == minimum) return of_small_numbers<minimum, space>(form);
  if (operation == maximum) return of_small_numbers<maximum, space>(form);
  if (operation != add)
    return for_value<conjunction, disjunction, exclusive, exchange, increment, decrement>(
        operation,
        [&]<AtomicOperation of_integers_only>() { return of_integers<of_integers_only, space>(form); });
  if (form.type == Type::f64) {
    if (form.lanes != 1) return nullptr;
    if (space == Space::shared) return with_form<double, add, space>(form);
    return with_form<GlobalDouble, add, space>(form);
  }
  if (form.type != Type::f32) return of_small_numbers<add, space>(form);
  if (space == Space::shared) return with_form<float, add, space>(form);
  return with_form<GlobalFloat, add, space>(form);
}

}  // namespace atomics

std::optional<AtomicOperation> take_atomic_operation(Modifiers& words) {
  const auto index = words.take_one({"and", "or", "xor", "exch", "add", "inc", "dec", "min", "max"});
  if (!index) return std::nullopt;
  return static_cast<AtomicOperation>(*index);
}

static Handler select_atomic(Draft& draft) {
  using namespace atomics;
  Modifiers& modifiers = draft.modifiers;
  if (modifiers.take("async")) return select_async_store(draft);
  const bool returns = modifiers.name() == "atom";
  if (!draft.is(returns ? 1 : 0, Operand::Kind::address)) return nullptr;
  const bool swaps = modifiers.take("cas");
  if (modifiers.has("L2::cache_hint")) draft.operands.pop_back();
  modifiers.take_hints();
  const Space space = modifiers.take_space();
  const int lanes = modifiers.take_lanes();
  const std::optional<AtomicOperation> operation = take_atomic_operation(modifiers);
  const Form form{modifiers.take_type(), returns, lanes};
  if (swaps) {
    if (!returns || lanes != 1 || operation) return nullptr;
    return for_value<Space::shared, Space::global, Space::generic>(space, [&]<Space in>() {
      return for_bytes(bytes_of(form.type), []<class T>() { return &compare_and_swap<T, in>; });
    });
  }
  if (!operation) return nullptr;
  return for_value<Space::shared, Space::global, Space::generic>(
      space, [&]<Space in>() { return with_operation<in>(form, *operation); });
}

static Effect effect_of_atomic(const Modifiers& given, Effect::Kind kind) {
  Effect effect = effect_of_access(given, kind);
  Modifiers words = given;
  const std::optional<AtomicOperation> operation = take_atomic_operation(words);
  // Sums of floating point are rounded after each step.
  const bool is_exact = is_integer(as_number(effect.type)) && effect.bytes >= sizeof(std::uint32_t);
  effect.commutes = effect.lanes == 1 && is_exact && operation && commutes(*operation);
  return effect;
}

static Effect effect_of_atom(const Modifiers& words) { return effect_of_atomic(words, Effect::Kind::atomic); }

static Effect effect_of_red(const Modifiers& words) {
  return words.has("async") ? effect_of_async_store(words) : effect_of_atomic(words, Effect::Kind::reduction);
}

std::vector<OpcodeRow> opcodes_of_atomics() {
  return {
      {"atom", {&select_atomic, 3, 5, Result::first, Waits::never, &effect_of_atom, &flow_of_number}},
      {"red", {&select_atomic, 2, 3, Result::none, Waits::never, &effect_of_red, &flow_of_number}},
  };
}

}  // namespace opgate::simulator
