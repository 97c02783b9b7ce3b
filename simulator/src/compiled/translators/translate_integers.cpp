// Arithmetic of integers.
#include "compiled/translators/translators.h"

namespace opgate::simulator {
namespace translated_integers {

// The function of integer_semantics.h, without its type. Empty for an instruction that is not translated.
std::string function_of(Modifiers& modifiers, Type type) {
  const std::string& name = modifiers.name();
  if (name == "mul" || name == "mad") {
    if (modifiers.take("lo")) return name + "_lo";
    if (modifiers.take("hi")) return name + "_hi";
    return modifiers.take("wide") && (bytes_of(type) == 2 || bytes_of(type) == 4) ? "mul_wide" : "";
  }
  for (const char* const known : {"add", "sub", "div", "rem", "min", "max", "neg", "abs"}) {
    if (name == known) return name;
  }
  return {};
}

}  // namespace translated_integers

bool translate_integer(Emitter& out, Source& source, Type given) {
  const Type type = as_number(given);
  if (!is_integer(type)) return false;
  Modifiers& modifiers = source.modifiers;
  const std::string function = translated_integers::function_of(modifiers, type);
  if (function.empty() || !modifiers.none_left()) return false;
  const bool widens = function == "mul_wide";
  const std::size_t sources = widens ? 2 : source.form.total - 1u;
  std::string value = function + "_" + name_in_c(type) + "(";
  for (std::size_t i = 1; i <= sources; ++i) value += (i == 1 ? "" : ", ") + out.get(source.slot(i), type);
  value += ")";
  if (widens && modifiers.name() == "mad") {
    const Type result = bytes_of(type) == 2 ? Type::u32 : Type::u64;
    out.set(source.slot(0), result, "(u64)" + value + " + " + out.get(source.slot(3), result));
  } else {
    const Type wide = is_signed(type) ? Type::s64 : Type::u64;
    out.set(source.slot(0), widens ? wide : type, value);
  }
  return true;
}

static bool translate_arithmetic(Emitter& out, Source& source) {
  const Type type = source.modifiers.take_type();
  switch (type) {
    case Type::f32:
    case Type::f64:
      return translate_float(out, source, type);
    case Type::f16:
    case Type::f16x2:
      return translate_half(out, source, type);
    default:
      return !source.modifiers.has("cc") && translate_integer(out, source, type);
  }
}

std::vector<TranslationRow> translations_of_integers() {
  return {
      {"add", &translate_arithmetic}, {"sub", &translate_arithmetic}, {"mul", &translate_arithmetic},
      {"mad", &translate_arithmetic}, {"fma", &translate_arithmetic}, {"div", &translate_arithmetic},
      {"rem", &translate_arithmetic}, {"abs", &translate_arithmetic}, {"neg", &translate_arithmetic},
      {"min", &translate_arithmetic}, {"max", &translate_arithmetic},
  };
}

}  // namespace opgate::simulator
