// What atomic instructions and reductions in bulk make of a place in memory.
#pragma once

#include <cstdint>
#include <type_traits>

#include "numbers/values.h"

namespace opgate::simulator {

enum class AtomicOperation : std::uint8_t {
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

/// Whether threads that do it to a place of integers leave the same there in whatever order they come.
constexpr bool commutes(AtomicOperation operation) {
  return operation == AtomicOperation::conjunction || operation == AtomicOperation::disjunction ||
         operation == AtomicOperation::exclusive || operation == AtomicOperation::add ||
         operation == AtomicOperation::minimum || operation == AtomicOperation::maximum;
}

/// `add` in global memory: atomic instructions, other than reductions in bulk, flush subnormal numbers of
/// single precision, and both pass NaN of double precision on as it is.
struct GlobalFloat {
  float value;
};
struct GlobalDouble {
  double value;
};

template <AtomicOperation operation, class T>
T combined_integer(T old, T value) {
  switch (operation) {
    case AtomicOperation::conjunction:
      return static_cast<T>(old & value);
    case AtomicOperation::disjunction:
      return static_cast<T>(old | value);
    case AtomicOperation::exclusive:
      return static_cast<T>(old ^ value);
    case AtomicOperation::exchange:
      return value;
    case AtomicOperation::add:
      return static_cast<T>(static_cast<std::uint64_t>(old) + static_cast<std::uint64_t>(value));
    case AtomicOperation::increment:
      return old >= value ? T{0} : static_cast<T>(static_cast<std::uint64_t>(old) + 1);
    case AtomicOperation::decrement:
      return old == 0 || old > value ? value : static_cast<T>(static_cast<std::uint64_t>(old) - 1);
    case AtomicOperation::minimum:
      return value < old ? value : old;
    case AtomicOperation::maximum:
      return value > old ? value : old;
  }
  return old;
}

/// What becomes of a place that holds `old`.
template <AtomicOperation operation, class T>
T combined(T old, T value) {
  if constexpr (std::is_integral_v<T>) {
    return combined_integer<operation>(old, value);
  } else if constexpr (std::is_same_v<T, GlobalFloat>) {
    return {semantics::sum_in_global(old.value, value.value)};
  } else if constexpr (std::is_same_v<T, GlobalDouble>) {
    return {semantics::sum_in_global(old.value, value.value)};
  } else if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>) {
    return semantics::sum_in_shared(old, value);
  } else if constexpr (operation == AtomicOperation::add) {
    return rounded<T>(add_to_odd(to_double(old), to_double(value)));
  } else {
    return rounded<T>(extremum(to_double(old), to_double(value), operation == AtomicOperation::minimum));
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

}  // namespace opgate::simulator
