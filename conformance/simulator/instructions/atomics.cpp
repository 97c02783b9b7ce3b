// atom and red. Threads run one after the other, so that every access is whole.
#include <cstring>
#include <type_traits>

#include "simulator/instructions/select.h"
#include "simulator/instructions/selectors.h"
#include "simulator/machine/memory.h"

namespace opgate::simulator {
namespace atomics {

enum class Operation : std::uint8_t {
  conjunction,
  disjunction,
  exclusive,
  exchange,
  add,
  increment,
  decrement,
  minimum,
  maximum
};

// `add` in global memory flushes subnormal numbers of single precision, and passes NaN of double precision on
// as it is.
struct GlobalFloat {
  float value;
};
struct GlobalDouble {
  double value;
};

template <Operation operation, class T>
T combined_integer(T old, T value) {
  switch (operation) {
    case Operation::conjunction:
      return static_cast<T>(old & value);
    case Operation::disjunction:
      return static_cast<T>(old | value);
    case Operation::exclusive:
      return static_cast<T>(old ^ value);
    case Operation::exchange:
      return value;
    case Operation::add:
      return static_cast<T>(static_cast<std::uint64_t>(old) + static_cast<std::uint64_t>(value));
    case Operation::increment:
      return old >= value ? T{0} : static_cast<T>(static_cast<std::uint64_t>(old) + 1);
    case Operation::decrement:
      return old == 0 || old > value ? value : static_cast<T>(static_cast<std::uint64_t>(old) - 1);
    case Operation::minimum:
      return value < old ? value : old;
    case Operation::maximum:
      return value > old ? value : old;
  }
  return old;
}

template <Operation operation, class T>
T combined(T old, T value) {
  if constexpr (std::is_integral_v<T>) {
    return combined_integer<operation>(old, value);
  } else if constexpr (std::is_same_v<T, GlobalFloat>) {
    return {flushed(with_one_nan(flushed(old.value) + flushed(value.value)))};
  } else if constexpr (std::is_same_v<T, GlobalDouble>) {
    if (value.value != value.value) return value;
    return old.value != old.value ? old : GlobalDouble{old.value + value.value};
  } else if constexpr (std::is_same_v<T, float>) {
    return with_one_nan(old + value);
  } else if constexpr (std::is_same_v<T, double>) {
    return old != old ? quieted(old) : old + value;
  } else if constexpr (operation == Operation::add) {
    return rounded<T>(add_to_odd(to_double(old), to_double(value)));
  } else {
    return rounded<T>(extremum(to_double(old), to_double(value), operation == Operation::minimum));
  }
}

template <class T>
std::uint64_t bits_of(T value) {
  if constexpr (std::is_same_v<T, GlobalFloat> || std::is_same_v<T, GlobalDouble>) {
    return to_bits(value.value);
  } else {
    return to_bits(value);
  }
}

// The lanes are those of a vector, or of a pair of small numbers in one register. `in.immediate` is the
// offset of the address.
template <class T, Operation operation, Space space, bool returns, int lanes, int in_register>
void execute(Thread& thread, const Instruction& in) {
  constexpr int kAddress = returns ? lanes : 0;
  constexpr std::size_t kBytes = sizeof(T) * in_register;
  unsigned char* const at =
      locate<space, Access::atomic>(thread, in, address_of(thread, in, kAddress), lanes * kBytes);
  for (int lane = 0; lane < lanes; ++lane) {
    const auto given = read<std::uint64_t>(thread, in, kAddress + 1 + lane);
    std::uint64_t before = 0;
    for (int part = 0; part < in_register; ++part) {
      unsigned char* const place =
          at + static_cast<std::size_t>(lane) * kBytes + static_cast<std::size_t>(part) * sizeof(T);
      T old;
      std::memcpy(&old, place, sizeof(T));
      const std::uint64_t piece = given >> (8 * sizeof(T) * static_cast<unsigned>(part) % 64);
      T value;
      std::memcpy(&value, &piece, sizeof(T));
      const T result = combined<operation>(old, value);
      std::memcpy(place, &result, sizeof(T));
      before |= bits_of(old) << (8 * sizeof(T) * static_cast<unsigned>(part) % 64);
    }
    if constexpr (returns) write(thread, in, lane, before);
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

template <Space space>
Handler swap_of_width(std::size_t bytes) {
  if (bytes == 2) return &compare_and_swap<std::uint16_t, space>;
  if (bytes == 4) return &compare_and_swap<std::uint32_t, space>;
  return bytes == 8 ? &compare_and_swap<std::uint64_t, space> : nullptr;
}

struct Form {
  Type type;
  bool returns;
  int lanes;
};

template <class T, Operation operation, Space space, int in_register = 1>
Handler with_form(const Form& form) {
  if (form.lanes == 1)
    return form.returns ? &execute<T, operation, space, true, 1, in_register>
                        : &execute<T, operation, space, false, 1, in_register>;
  if (space != Space::global && space != Space::generic) return nullptr;
  if (form.lanes == 2)
    return form.returns ? &execute<T, operation, space, true, 2, in_register>
                        : &execute<T, operation, space, false, 2, in_register>;
  // A vector of four that returns the old values has more operands than an instruction can hold here.
  return form.lanes == 4 && !form.returns ? &execute<T, operation, space, false, 4, in_register> : nullptr;
}

template <Operation operation, Space space>
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

template <Operation operation, Space space>
Handler of_small_floats(const Form& form) {
  switch (form.type) {
    case Type::f16:
      return with_form<Half, operation, space>(form);
    case Type::bf16:
      return with_form<Bfloat16, operation, space>(form);
    case Type::f16x2:
      return with_form<Half, operation, space, 2>(form);
    case Type::bf16x2:
      return with_form<Bfloat16, operation, space, 2>(form);
    default:
      return of_integers<operation, space>(form);
  }
}

template <Space space>
Handler with_operation(const Form& form, Operation operation) {
  switch (operation) {
    case Operation::conjunction:
      return of_integers<Operation::conjunction, space>(form);
    case Operation::disjunction:
      return of_integers<Operation::disjunction, space>(form);
    case Operation::exclusive:
      return of_integers<Operation::exclusive, space>(form);
    case Operation::exchange:
      return of_integers<Operation::exchange, space>(form);
    case Operation::increment:
      return form.type == Type::u32 ? of_integers<Operation::increment, space>(form) : nullptr;
    case Operation::decrement:
      return form.type == Type::u32 ? of_integers<Operation::decrement, space>(form) : nullptr;
    case Operation::minimum:
      return of_small_floats<Operation::minimum, space>(form);
    case Operation::maximum:
      return of_small_floats<Operation::maximum, space>(form);
    case Operation::add:
      break;
  }
  if (form.type == Type::f64) {
    if (form.lanes != 1) return nullptr;
    if (space == Space::shared) return with_form<double, Operation::add, space>(form);
    return with_form<GlobalDouble, Operation::add, space>(form);
  }
  if (form.type != Type::f32) return of_small_floats<Operation::add, space>(form);
  if (space == Space::shared) return with_form<float, Operation::add, space>(form);
  return with_form<GlobalFloat, Operation::add, space>(form);
}

}  // namespace atomics

static Handler select_atomic(Draft& draft) {
  using namespace atomics;
  Modifiers& modifiers = draft.modifiers;
  const bool returns = modifiers.name() == "atom";
  if (!draft.is(returns ? 1 : 0, Operand::Kind::address)) return nullptr;
  const bool swaps = modifiers.take("cas");
  if (modifiers.has("L2::cache_hint")) draft.operands.pop_back();
  modifiers.take_hints();
  const Space space = modifiers.take_space();
  const int lanes = modifiers.take_lanes();
  const auto operation = modifiers.take_one({"and", "or", "xor", "exch", "add", "inc", "dec", "min", "max"});
  const Form form{modifiers.take_type(), returns, lanes};
  if (swaps) {
    if (!returns || lanes != 1 || operation) return nullptr;
    if (space == Space::shared) return swap_of_width<Space::shared>(bytes_of(form.type));
    if (space == Space::global) return swap_of_width<Space::global>(bytes_of(form.type));
    return space == Space::generic ? swap_of_width<Space::generic>(bytes_of(form.type)) : nullptr;
  }
  if (!operation) return nullptr;
  const auto chosen = static_cast<Operation>(*operation);
  if (space == Space::shared) return with_operation<Space::shared>(form, chosen);
  if (space == Space::global) return with_operation<Space::global>(form, chosen);
  return space == Space::generic ? with_operation<Space::generic>(form, chosen) : nullptr;
}

std::vector<OpcodeRow> opcodes_of_atomics() {
  return {
      {"atom", {&select_atomic, 3, 5, Result::first, Waits::never, Effect::atomic}},
      {"red", {&select_atomic, 2, 3, Result::none, Waits::never, Effect::reduction}},
  };
}

}  // namespace opgate::simulator
