// Comparisons, and choices by them.
#include <type_traits>

#include "instructions/effects.h"
#include "instructions/flows.h"
#include "instructions/select.h"
#include "instructions/selectors.h"
#include "numbers/comparisons.h"

namespace opgate::simulator {
namespace comparisons {

enum class Combination : std::uint8_t { none, with_and, with_or, with_xor };

Combination take_combination(Modifiers& modifiers) {
  const std::optional<int> index = modifiers.take_one({"and", "or", "xor"});
  return index ? static_cast<Combination>(*index + 1) : Combination::none;
}

bool combined(bool result, bool other, Combination combination) {
  switch (combination) {
    case Combination::with_and:
      return result && other;
    case Combination::with_or:
      return result || other;
    case Combination::with_xor:
      return result != other;
    case Combination::none:
      break;
  }
  return result;
}

// Numbers with `.ftz` are types of their own here.
struct FlushedFloat {};
struct FlushedHalf {};

template <class T>
auto operand_of(std::uint64_t bits) {
  if constexpr (std::is_same_v<T, FlushedFloat>) {
    return flushed(from_bits<float>(bits));
  } else if constexpr (std::is_same_v<T, FlushedHalf>) {
    return flushed_half(to_double(from_bits<Half>(bits)));
  } else if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, Bfloat16>) {
    return to_double(from_bits<T>(bits));
  } else {
    return from_bits<T>(bits);
  }
}

template <class T, Comparison comparison>
bool holds(const Thread& thread, const Instruction& in, int a, int b, int shift = 0) {
  return compare<comparison>(operand_of<T>(read<std::uint64_t>(thread, in, a) >> shift),
                             operand_of<T>(read<std::uint64_t>(thread, in, b) >> shift));
}

// setp p|q, a, b, c: c takes part where the instruction combines.

template <class T, Comparison comparison>
void set_one_predicate(Thread& thread, const Instruction& in) {
  thread.registers[in.slots[0]] = holds<T, comparison>(thread, in, 1, 2) ? 1 : 0;
}

// For a pair of numbers, each half gives one of the predicates.
template <class T, Comparison comparison, bool is_pair>
void set_predicates(Thread& thread, const Instruction& in) {
  const auto combination = static_cast<Combination>(in.immediate);
  const bool first = holds<T, comparison>(thread, in, 2, 3);
  const bool second = is_pair ? holds<T, comparison>(thread, in, 2, 3, 16) : !first;
  const bool other = combination != Combination::none && read<bool>(thread, in, 4);
  write<std::uint8_t>(thread, in, 0, combined(first, other, combination) ? 1 : 0);
  write<std::uint8_t>(thread, in, 1, combined(second, other, combination) ? 1 : 0);
}

// set d, a, b, c: what a true comparison is, is in the upper part of the immediate value.
template <class T, Comparison comparison, bool is_pair>
void set_value(Thread& thread, const Instruction& in) {
  const auto combination = static_cast<Combination>(in.immediate & 3);
  const bool other = combination != Combination::none && read<bool>(thread, in, 3);
  const auto one = static_cast<std::uint64_t>(in.immediate >> 2);
  const auto half = [&](int shift) {
    return combined(holds<T, comparison>(thread, in, 1, 2, shift), other, combination) ? one << shift : 0;
  };
  write(thread, in, 0, half(0) | (is_pair ? half(16) : 0));
}

enum class Form : std::uint8_t { one_predicate, predicates, value };

template <class T, Comparison comparison, bool is_pair = false>
Handler with_form(Form form) {
  switch (form) {
    case Form::one_predicate:
      return &set_one_predicate<T, comparison>;
    case Form::predicates:
      return &set_predicates<T, comparison, is_pair>;
    case Form::value:
      return &set_value<T, comparison, is_pair>;
  }
  return nullptr;
}

template <Comparison comparison>
Handler with_type(Type type, bool flush, Form form) {
  if (type == Type::f32)
    return flush ? with_form<FlushedFloat, comparison>(form) : with_form<float, comparison>(form);
  if (type == Type::f64) return with_form<double, comparison>(form);
  if (is_integer(as_number(type)) && bytes_of(type) > 1)
    return for_integer(type, [&]<class T>() { return with_form<T, comparison>(form); });
  return for_small_float(type, [&]<class Small, bool is_pair>() {
    if constexpr (std::is_same_v<Small, Half>) {
      if (flush) return with_form<FlushedHalf, comparison, is_pair>(form);
    }
    return with_form<Small, comparison, is_pair>(form);
  });
}

Handler with_comparison(Comparison comparison, Type type, bool flush, Form form) {
  switch (comparison) {
#define OPGATE_COMPARISON(name, expression) \
  case Comparison::name:                    \
    return with_type<Comparison::name>(type, flush, form);
    OPGATE_COMPARISONS(OPGATE_COMPARISON)
#undef OPGATE_COMPARISON
  }
  return nullptr;
}

bool is_pair(Type type) { return type == Type::f16x2 || type == Type::bf16x2; }

}  // namespace comparisons

static Handler select_setp(Draft& draft) {
  using namespace comparisons;
  Modifiers& modifiers = draft.modifiers;
  const std::optional<Comparison> comparison = take_comparison(modifiers);
  if (!comparison) return nullptr;
  const Combination combination = take_combination(modifiers);
  const bool flush = modifiers.take("ftz");
  const Type type = modifiers.take_type();
  if (combination == Combination::none && draft.operands.front().slots.size() == 1 && !is_pair(type))
    return with_comparison(*comparison, type, flush, Form::one_predicate);
  draft.pair_results();
  draft.instruction.immediate = static_cast<std::int64_t>(combination);
  return with_comparison(*comparison, type, flush, Form::predicates);
}

static Handler select_set(Draft& draft) {
  using namespace comparisons;
  Modifiers& modifiers = draft.modifiers;
  const std::optional<Comparison> comparison = take_comparison(modifiers);
  if (!comparison) return nullptr;
  const Combination combination = take_combination(modifiers);
  const bool flush = modifiers.take("ftz");
  const Type to = modifiers.take_type();
  const Type from = modifiers.take_type();
  std::int64_t one = 0;
  if (to == Type::u32 || to == Type::s32) one = is_pair(from) ? 0xffff : 0xffffffff;
  if (to == Type::u16 || to == Type::s16) one = 0xffff;
  if (to == Type::f32) one = 0x3f800000;
  if (to == Type::f16 || to == Type::f16x2) one = 0x3c00;
  if (to == Type::bf16 || to == Type::bf16x2) one = 0x3f80;
  if (one == 0) return nullptr;
  draft.instruction.immediate = one << 2 | static_cast<std::int64_t>(combination);
  return with_comparison(*comparison, from, flush, Form::value);
}

std::vector<OpcodeRow> opcodes_of_comparisons() {
  return {
      {"setp", {&select_setp, 3, 4, Result::first, Waits::never, &no_effect, &flow_of_condition}},
      {"set", {&select_set, 3, 4, Result::first, Waits::never, &no_effect, &flow_of_number}},
  };
}

}  // namespace opgate::simulator
