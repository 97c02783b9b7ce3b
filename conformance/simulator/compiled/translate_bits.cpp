// Logic, shifts, fields of bits and permutations of bytes.
#include "simulator/compiled/translators.h"

namespace opgate::simulator {
namespace translated_bits {

Type as_number(Type type) {
  if (type == Type::b16) return Type::u16;
  if (type == Type::b32) return Type::u32;
  return type == Type::b64 ? Type::u64 : type;
}

bool is_number(Type type) {
  switch (type) {
    case Type::u16:
    case Type::u32:
    case Type::u64:
    case Type::s16:
    case Type::s32:
    case Type::s64:
      return true;
    default:
      return false;
  }
}

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

std::string counting(Emitter& out, const Source& source, Type type) {
  const std::string& name = source.modifiers.name();
  const bool wide = bytes_of(type) == 8;
  const std::string value = out.get(source.slot(1), wide ? Type::u64 : Type::u32);
  if (name == "popc") return (wide ? "__builtin_popcountll(" : "__builtin_popcount(") + value + ")";
  if (name != "clz") return {};
  return value + " == 0 ? " + (wide ? "64 : __builtin_clzll(" : "32 : __builtin_clz(") + value + ")";
}

std::string field(Emitter& out, const Source& source, Type type) {
  const std::string& name = source.modifiers.name();
  const Type plain = bytes_of(type) == 8 ? Type::u64 : Type::u32;
  // Of 64 bits, the whole number counts.
  const auto byte = [&](std::size_t index) {
    return out.get(source.slot(index), Type::u32) + (plain == Type::u64 ? "" : " & 0xff");
  };
  const std::string value = out.get(source.slot(1), plain);
  if (name == "bfe") return "bfe_" + name_in_c(type) + "(" + value + ", " + byte(2) + ", " + byte(3) + ")";
  if (name != "bfi") return {};
  return "bfi_" + name_in_c(plain) + "(" + value + ", " + out.get(source.slot(2), plain) + ", " + byte(3) +
         ", " + byte(4) + ")";
}

}  // namespace translated_bits

bool translate_bits(Emitter& out, Source& source) {
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
  if (!is_number(type)) return false;
  std::string value = logic(out, source, type);
  Type result = type;
  if (value.empty() && (name == "shl" || name == "shr"))
    value = name + "_" + name_in_c(type) + "(" + out.get(source.slot(1), type) + ", " +
            out.get(source.slot(2), Type::u32) + ")";
  if (value.empty() && bytes_of(type) >= 4) {
    value = counting(out, source, type);
    if (!value.empty()) result = Type::u32;
    // The interpreter writes fields as unsigned numbers.
    if (value.empty()) {
      value = field(out, source, type);
      result = bytes_of(type) == 8 ? Type::u64 : Type::u32;
    }
  }
  if (value.empty()) return false;
  out.set(source.slot(0), result, value);
  return true;
}

bool translate_lookup(Emitter& out, Source& source) {
  source.modifiers.take_type();
  if (!source.modifiers.none_left() || !out.is_constant(source.slot(4))) return false;
  const std::uint64_t table = out.constant(source.slot(4));
  std::string value;
  for (unsigned row = 0; row < 8; ++row) {
    if ((table >> row & 1) == 0) continue;
    const auto operand = [&](std::size_t index, unsigned bit) {
      return ((row & bit) != 0 ? "" : "~") + out.get(source.slot(index), Type::u32);
    };
    value +=
        (value.empty() ? "(" : " | (") + operand(1, 4) + " & " + operand(2, 2) + " & " + operand(3, 1) + ")";
  }
  out.set(source.slot(0), Type::u32, value.empty() ? "0" : value);
  return true;
}

bool translate_permutation(Emitter& out, Source& source) {
  source.modifiers.take_type();
  if (!source.modifiers.none_left()) return false;
  const auto operand = [&](std::size_t index) { return out.get(source.slot(index), Type::u32); };
  if (!out.is_constant(source.slot(3))) {
    out.set(source.slot(0), Type::u32,
            "permuted(" + operand(1) + ", " + operand(2) + ", " + operand(3) + ")");
    return true;
  }
  const std::uint64_t control = out.constant(source.slot(3));
  std::string value;
  for (unsigned place = 0; place < 4; ++place) {
    const auto from = static_cast<unsigned>(control >> (4 * place) & 15);
    std::string byte =
        "(" + operand((from & 4) != 0 ? 2 : 1) + " >> " + std::to_string(8 * (from & 3)) + " & 0xff)";
    if ((from & 8) != 0) byte = "((" + byte + " & 0x80) != 0 ? 0xffu : 0u)";
    value += (place == 0 ? "" : " | ") + byte + " << " + std::to_string(8 * place);
  }
  out.set(source.slot(0), Type::u32, value);
  return true;
}

bool translate_funnel_shift(Emitter& out, Source& source) {
  Modifiers& modifiers = source.modifiers;
  const bool left = modifiers.take("l");
  if (!left) modifiers.take("r");
  const bool wraps = modifiers.take("wrap");
  modifiers.take_type();
  if (!wraps || !modifiers.none_left()) return false;
  const std::string value =
      "(" + out.get(source.slot(1), Type::u32) + " | (u64)" + out.get(source.slot(2), Type::u32) + " << 32)";
  const std::string by = "(" + out.get(source.slot(3), Type::u32) + " & 31)";
  out.set(source.slot(0), Type::u32, left ? value + " << " + by + " >> 32" : value + " >> " + by);
  return true;
}

}  // namespace opgate::simulator
