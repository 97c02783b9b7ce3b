// Opcodes that serve several kinds of numbers.
#include "instructions/effects.h"
#include "instructions/flows.h"
#include "instructions/selectors.h"

namespace opgate::simulator {

static Handler select_arithmetic(Draft& draft) {
  Modifiers& modifiers = draft.modifiers;
  // The smallest or largest of three is of later devices.
  if (draft.operands.size() == 4 && (modifiers.name() == "min" || modifiers.name() == "max")) return nullptr;
  const Type type = modifiers.take_type();
  switch (type) {
    case Type::f32:
    case Type::f64:
      return float_arithmetic(draft, type);
    case Type::f16:
    case Type::f16x2:
    case Type::bf16:
    case Type::bf16x2:
      return small_float_arithmetic(draft, type);
    default:
      if (!modifiers.take("cc")) return integer_arithmetic(draft, type);
      return integer_with_carry(draft, type, /*carries_in=*/false, /*carries_out=*/true);
  }
}

std::vector<OpcodeRow> opcodes_of_arithmetic() {
  return {
      {{"add", "sub", "div", "rem"},
       {&select_arithmetic, 3, 3, Result::first, Waits::never, &no_effect, &flow_of_number}},
      {"mul", {&select_arithmetic, 3, 3, Result::first, Waits::never, &no_effect, &flow_of_multiplication}},
      {"mad", {&select_arithmetic, 4, 4, Result::first, Waits::never, &no_effect, &flow_of_multiplication}},
      {"fma", {&select_arithmetic, 4, 4, Result::first, Waits::never, &no_effect, &flow_of_number}},
      {{"abs", "neg"}, {&select_arithmetic, 2, 2, Result::first, Waits::never, &no_effect, &flow_of_number}},
      {{"min", "max"}, {&select_arithmetic, 3, 4, Result::first, Waits::never, &no_effect, &flow_of_number}},
  };
}

}  // namespace opgate::simulator
