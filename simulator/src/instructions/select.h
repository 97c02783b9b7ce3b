// Chooses among the instances of a handler, one for each type.
#pragma once

#include <cstdint>

#include "machine/slots.h"
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

/// `Family::handler<T>()` for the C++ type of an integer type, and null for other types. `bN` counts as
/// unsigned.
template <class Family>
Handler for_integer(Type type) {
  switch (type) {
    case Type::b8:
    case Type::u8:
      return Family::template handler<std::uint8_t>();
    case Type::b16:
    case Type::u16:
      return Family::template handler<std::uint16_t>();
    case Type::b32:
    case Type::u32:
      return Family::template handler<std::uint32_t>();
    case Type::b64:
    case Type::u64:
      return Family::template handler<std::uint64_t>();
    case Type::s8:
      return Family::template handler<std::int8_t>();
    case Type::s16:
      return Family::template handler<std::int16_t>();
    case Type::s32:
      return Family::template handler<std::int32_t>();
    case Type::s64:
      return Family::template handler<std::int64_t>();
    default:
      return nullptr;
  }
}

template <class Operation>
struct Unary {
  template <class T>
  static Handler handler() {
    return &unary<T, Operation>;
  }
};

template <class Operation>
struct Binary {
  template <class T>
  static Handler handler() {
    return &binary<T, Operation>;
  }
};

template <class Operation>
struct Ternary {
  template <class T>
  static Handler handler() {
    return &ternary<T, Operation>;
  }
};

}  // namespace opgate::simulator
