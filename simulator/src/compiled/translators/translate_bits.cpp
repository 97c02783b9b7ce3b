// Logic, shifts, fields of bits and permutations of bytes.
#include "compiled/translators/translators.h"

namespace opgate::simulator {
namespace translated_bits {

// and or xor not, of integers and predicates. Empty for other instructions.
std::string logic(Emitter& out, const Source& source, Type type) {
  const std::string& name = source.modifiers.name();
  const auto operand = [&](std::size_t index) { return out.get(source.slot(index), type); };
  if (name == "and") return operand(1) + " & " + operand(2);
  if (name == "or") return operand(1) + " | " + operand(2);
  if (name == "xor") return operand(1) + " ^ " + operand(2);
  if (name == "not") return "~" + operand(1);
  return {};
}

// Of 32 and 64 bits.
std::string field(Emitter& out, const Source& source, Type type) {
  const std::string& name = source.modifiers.name();
  const Type plain = name == "bfe" ? type : bytes_of(type) == 8 ? Type::u64 : Type::u32;
  const std::string function = name + "_" + name_in_c(plain) + "(";
  const auto number = [&](std::size_t index) { return out.get(source.slot(index), Type::u32); };
  const auto value = [&](std::size_t index) { return out.get(source.slot(index), plain); };
  if (name == "popc" || name == "clz") return function + value(1) + ")";
  if (name == "bfe") return function + value(1) + ", " + number(2) + ", " + number(3) + ")";
  if (name != "bfi") return {};
  return function + value(1) + ", " + value(2) + ", " + number(3) + ", " + number(4) + ")";
}

}  // namespace translated_bits

static bool translate_bits(Emitter& out, Source& source) {
  using namespace translated_bits;
  const Type type = as_number(source.modifiers.take_type());
  const std::string& name = source.modifiers.name();
  if (!source.modifiers.none_left()) return false;
  if (type == Type::pred) {
    // Predicates hold 0 or 1.
    const std::string value = name == "not" ? "!" + out.get(source.slot(1), type) : logic(out, source, type);
    if (value.empty()) return false;
    out.set(source.slot(0), type, value);
    return true;
  }
  if (!is_integer(type)) return false;
  std::string value = logic(out, source, type);
  Type result = type;
  if (value.empty() && (name == "shl" || name == "shr"))
    value = name + "_" + name_in_c(type) + "(" + out.get(source.slot(1), type) + ", " +
            out.get(source.slot(2), Type::u32) + ")";
  if (value.empty() && bytes_of(type) >= 4) {
    value = field(out, source, type);
    // Numbers of bits have 32 bits, and fields no sign that the whole slot would take.
    result = bytes_of(type) == 8 && name != "popc" && name != "clz" ? Type::u64 : Type::u32;
  }
  if (value.empty()) return false;
  out.set(source.slot(0), result, value);
  return true;
}

// lop3 and prmt
static bool translate_permutation(Emitter& out, Source& source) {
  source.modifiers.take_type();
  if (!source.modifiers.none_left()) return false;
  std::string operands;
  for (std::size_t i = 1; i < source.form.total; ++i)
    operands += (i == 1 ? "(" : ", ") + out.get(source.slot(i), Type::u32);
  out.set(source.slot(0), Type::u32, source.modifiers.name() + operands + ")");
  return true;
}

static bool translate_funnel_shift(Emitter& out, Source& source) {
  Modifiers& modifiers = source.modifiers;
  const std::string function = modifiers.take("l") ? "shf_l(" : "shf_r(";
  modifiers.take("r");
  const bool wraps = modifiers.take("wrap");
  modifiers.take("clamp");
  modifiers.take_type();
  if (!modifiers.none_left()) return false;
  const auto operand = [&](std::size_t index) { return out.get(source.slot(index), Type::u32); };
  out.set(source.slot(0), Type::u32,
          function + operand(1) + ", " + operand(2) + ", " + operand(3) + ", " + (wraps ? "1)" : "0)"));
  return true;
}

std::vector<TranslationRow> translations_of_bits() {
  return {
      {"and", &translate_bits},         {"or", &translate_bits},          {"xor", &translate_bits},
      {"not", &translate_bits},         {"shl", &translate_bits},         {"shr", &translate_bits},
      {"popc", &translate_bits},        {"clz", &translate_bits},         {"bfe", &translate_bits},
      {"bfi", &translate_bits},         {"lop3", &translate_permutation}, {"prmt", &translate_permutation},
      {"shf", &translate_funnel_shift},
  };
}

}  // namespace opgate::simulator
