// Comparisons, and choices by a predicate.
#include "compiled/translators/translators.h"
#include "numbers/comparisons.h"

namespace opgate::simulator {
namespace translated_comparisons {

// How a number of this type is compared in C. Empty for pairs.
std::string operand(Emitter& out, Slot slot, Type type, bool flush) {
  switch (type) {
    case Type::f32:
      return flush ? "flushed(" + out.get(slot, type) + ")" : out.get(slot, type);
    case Type::f16:
      return "f32_of_half(" + out.get(slot, Type::u16) + ")";
    case Type::bf16:
      return "f32_of_bfloat16(" + out.get(slot, Type::u16) + ")";
    case Type::f64:
      return out.get(slot, type);
    default:
      return is_integer(as_number(type)) ? out.get(slot, as_number(type)) : std::string();
  }
}

const char* combination(Modifiers& modifiers) {
  if (modifiers.take("and")) return " && ";
  if (modifiers.take("or")) return " || ";
  return modifiers.take("xor") ? " != " : nullptr;
}

}  // namespace translated_comparisons

static bool translate_comparison(Emitter& out, Source& source) {
  using namespace translated_comparisons;
  Modifiers& modifiers = source.modifiers;
  const std::optional<Comparison> comparison = take_comparison(modifiers);
  const char* const combined = combination(modifiers);
  const bool flush = modifiers.take("ftz");
  const Type type = modifiers.take_type();
  if (!comparison || !modifiers.none_left() || (flush && type != Type::f32)) return false;
  const std::size_t results = source.form.first;
  const std::string a = operand(out, source.slot(results), type, flush);
  const std::string b = operand(out, source.slot(results + 1), type, flush);
  if (a.empty() || b.empty()) return false;
  out.line("  { const __typeof__(" + a + ") a = " + a + "; const __typeof__(" + b + ") b = " + b + ";");
  out.line("  const u8 holds = " + std::string(in_c(*comparison)) + ";" +
           (combined != nullptr ? " const u8 other = " + out.get(source.slot(results + 2), Type::pred) + ";"
                                : ""));
  const std::string with_other = combined != nullptr ? std::string(combined) + "other" : "";
  out.set(source.slot(0), Type::pred, "holds" + with_other);
  if (results == 2) out.set(source.slot(1), Type::pred, "!holds" + with_other);
  out.line("  }");
  return true;
}

static bool translate_choice(Emitter& out, Source& source) {
  const Type given = source.modifiers.take_type();
  if (!source.modifiers.none_left()) return false;
  const std::size_t bytes = bytes_of(given);
  if (given == Type::pred || (bytes != 2 && bytes != 4 && bytes != 8)) return false;
  Type type = bytes == 2 ? Type::u16 : bytes == 4 ? Type::b32 : Type::b64;
  if (given == Type::f32 || given == Type::f64) type = given;
  out.set_choice(source.slot(0), type, out.get(source.slot(3), Type::pred), source.slot(1), source.slot(2));
  return true;
}

std::vector<TranslationRow> translations_of_comparisons() {
  return {
      {"setp", &translate_comparison},
      {"selp", &translate_choice},
  };
}

}  // namespace opgate::simulator
