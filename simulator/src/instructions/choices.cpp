// Choices by a predicate or a number, and questions about a number.
#include <cmath>

#include "instructions/effects.h"
#include "instructions/flows.h"
#include "instructions/select.h"
#include "instructions/selectors.h"

namespace opgate::simulator {
namespace choices {

template <class T>
void by_predicate(Thread& thread, const Instruction& in) {
  write(thread, in, 0, read<bool>(thread, in, 3) ? read<T>(thread, in, 1) : read<T>(thread, in, 2));
}

// slct d, a, b, c: a where c is not below zero. NaN chooses b, and -0 chooses a.
template <class T, class Condition, bool flush>
void by_sign(Thread& thread, const Instruction& in) {
  Condition condition = read<Condition>(thread, in, 3);
  if constexpr (flush) condition = flushed(condition);
  write(thread, in, 0, condition >= 0 ? read<T>(thread, in, 1) : read<T>(thread, in, 2));
}

template <class T>
Handler with_condition(Type condition, bool flush) {
  if (condition == Type::s32) return &by_sign<T, std::int32_t, false>;
  if (condition != Type::f32) return nullptr;
  return flush ? &by_sign<T, float, true> : &by_sign<T, float, false>;
}

enum class Question : std::uint8_t { finite, infinite, number, not_a_number, normal, subnormal };

template <class T>
void ask(Thread& thread, const Instruction& in) {
  const T value = read<T>(thread, in, 1);
  const int kind = std::fpclassify(value);
  bool answer = false;
  switch (static_cast<Question>(in.immediate)) {
    case Question::finite:
      answer = kind != FP_NAN && kind != FP_INFINITE;
      break;
    case Question::infinite:
      answer = kind == FP_INFINITE;
      break;
    case Question::number:
      answer = kind != FP_NAN;
      break;
    case Question::not_a_number:
      answer = kind == FP_NAN;
      break;
    case Question::normal:
      answer = kind == FP_NORMAL || kind == FP_ZERO;  // zeros count, as the manual says
      break;
    case Question::subnormal:
      answer = kind == FP_SUBNORMAL;
      break;
  }
  write<std::uint8_t>(thread, in, 0, answer ? 1 : 0);
}

}  // namespace choices

static Handler select_selp(Draft& draft) {
  return for_bytes(bytes_of(draft.modifiers.take_type()),
                   []<class T>() { return &choices::by_predicate<T>; });
}

static Handler select_slct(Draft& draft) {
  const bool flush = draft.modifiers.take("ftz");
  const std::size_t bytes = bytes_of(draft.modifiers.take_type());
  const Type condition = draft.modifiers.take_type();
  return for_bytes(bytes, [&]<class T>() { return choices::with_condition<T>(condition, flush); });
}

static Handler select_testp(Draft& draft) {
  const std::optional<int> question =
      draft.modifiers.take_one({"finite", "infinite", "number", "notanumber", "normal", "subnormal"});
  if (!question) return nullptr;
  draft.instruction.immediate = *question;
  const Type type = draft.modifiers.take_type();
  if (type == Type::f32) return &choices::ask<float>;
  return type == Type::f64 ? &choices::ask<double> : nullptr;
}

std::vector<OpcodeRow> opcodes_of_choices() {
  return {
      {"testp", {&select_testp, 2, 2, Result::first, Waits::never, &no_effect, &flow_of_condition}},
      {"selp", {&select_selp, 4, 4, Result::first, Waits::never, &no_effect, &flow_of_bits}},
      {"slct", {&select_slct, 4, 4, Result::first, Waits::never, &no_effect, &flow_of_number}},
  };
}

}  // namespace opgate::simulator
