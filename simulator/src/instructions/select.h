// Chooses among the instances of a handler, one for each type.
#pragma once

#include <cstdint>
#include <limits>

#include "machine/slots.h"
#include "numbers/small_floats.h"
#include "ptx/draft.h"

namespace opgate::simulator {

// Handlers of one result by a function of their sources.
template <class T, class Operation>
void unary(Thread& thread, const Instruction& in) {
  write<T>(thread, in, 0, Operation()(read<T>(thread, in, 1)));
}

template <class T, class Operation>
void binary(Thread& thread, const Instruction& in) {
  write<T>(thread, in, 0, Operation()(read<T>(thread, in, 1), read<T>(thread, in, 2)));
}

template <class T, class Operation>
void ternary(Thread& thread, const Instruction& in) {
  write<T>(thread, in, 0,
           Operation()(read<T>(thread, in, 1), read<T>(thread, in, 2), read<T>(thread, in, 3)));
}

/// `choose.operator()<value>()` for that of the values which is given, and null for all others.
template <auto... values, class Given, class Choose>
Handler for_value(Given given, Choose choose) {
  Handler chosen = nullptr;
  ((given == values ? void(chosen = choose.template operator()<values>()) : void()), ...);
  return chosen;
}

/// `choose.operator()<T>()` for the unsigned integer of 2, 4 or 8 bytes, and null for other numbers of them.
template <class Choose>
Handler for_bytes(std::size_t bytes, Choose choose) {
  if (bytes == 2) return choose.template operator()<std::uint16_t>();
  if (bytes == 4) return choose.template operator()<std::uint32_t>();
  return bytes == 8 ? choose.template operator()<std::uint64_t>() : nullptr;
}

/// `choose.operator()<Small, is_pair>()` for numbers of 16 bits, alone or two in a register; null for others.
template <class Choose>
Handler for_small_float(Type type, Choose choose) {
  switch (type) {
    case Type::f16:
      return choose.template operator()<Half, false>();
    case Type::bf16:
      return choose.template operator()<Bfloat16, false>();
    case Type::f16x2:
      return choose.template operator()<Half, true>();
    case Type::bf16x2:
      return choose.template operator()<Bfloat16, true>();
    default:
      return nullptr;
  }
}

/// `choose.operator()<T>()` for the C++ type of an integer type, and null for other types. `bN` counts as
/// unsigned.
template <class Choose>
Handler for_integer(Type type, Choose choose) {
  switch (type) {
    case Type::b8:
    case Type::u8:
      return choose.template operator()<std::uint8_t>();
    case Type::b16:
    case Type::u16:
      return choose.template operator()<std::uint16_t>();
    case Type::b32:
    case Type::u32:
      return choose.template operator()<std::uint32_t>();
    case Type::b64:
    case Type::u64:
      return choose.template operator()<std::uint64_t>();
    case Type::s8:
      return choose.template operator()<std::int8_t>();
    case Type::s16:
      return choose.template operator()<std::int16_t>();
    case Type::s32:
      return choose.template operator()<std::int32_t>();
    case Type::s64:
      return choose.template operator()<std::int64_t>();
    default:
      return nullptr;
  }
}

// The handlers above for integers of the type. The operations are functions of any such type.
template <class Operation>
Handler unary_of_integer(Type type, Operation) {
  return for_integer(type, []<class T>() { return &unary<T, Operation>; });
}

template <class Operation>
Handler binary_of_integer(Type type, Operation) {
  return for_integer(type, []<class T>() { return &binary<T, Operation>; });
}

template <class Operation>
Handler ternary_of_integer(Type type, Operation) {
  return for_integer(type, []<class T>() { return &ternary<T, Operation>; });
}

/// The least and the greatest number of T take the place of what is beyond them.
template <class T, class Wide>
T clamped(Wide value) {
  if (value < Wide{std::numeric_limits<T>::min()}) return std::numeric_limits<T>::min();
  if (value > Wide{std::numeric_limits<T>::max()}) return std::numeric_limits<T>::max();
  return static_cast<T>(value);
}

}  // namespace opgate::simulator
