// Opcodes that serve several kinds of numbers.
#include "simulator/instructions/selectors.h"

namespace opgate::simulator {

Handler select_arithmetic(Draft& draft) {
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

}  // namespace opgate::simulator
