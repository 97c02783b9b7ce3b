// Arithmetic of integers.
#include "simulator/compiled/translators.h"

namespace opgate::simulator {
namespace translated_integers {

bool is_plain(Type type) {
  switch (type) {
    case Type::b8:
    case Type::b16:
    case Type::b32:
    case Type::b64:
    case Type::u8:
    case Type::u16:
    case Type::u32:
    case Type::u64:
    case Type::s8:
    case Type::s16:
    case Type::s32:
    case Type::s64:
      return true;
    default:
      return false;
  }
}

bool is_signed(Type type) {
  return type == Type::s8 || type == Type::s16 || type == Type::s32 || type == Type::s64;
}

// bN is for bits that are only moved. Here it is a number.
Type as_number(Type type) {
  if (type == Type::b32) return Type::u32;
  return type == Type::b64 ? Type::u64 : type;
}

// Signed numbers wrap around as unsigned ones do.
Type wrapping(Type type) { return bytes_of(type) == 8 ? Type::u64 : Type::u32; }

std::string twice(Type type) {
  const bool wide = bytes_of(type) == 8;
  return is_signed(type) ? (wide ? "s128" : "s64") : (wide ? "u128" : "u64");
}

bool multiply(Emitter& out, Source& source, Type type) {
  Modifiers& modifiers = source.modifiers;
  const bool adds = modifiers.name() == "mad";
  const bool wide = modifiers.take("wide");
  const bool high = modifiers.take("hi");
  if (!wide && !high && !modifiers.take("lo")) return false;
  if (!modifiers.none_left()) return false;
  const Slot a = source.slot(1);
  const Slot b = source.slot(2);
  if (wide) {
    const bool halves = bytes_of(type) == 2;
    if (!halves && bytes_of(type) != 4) return false;
    const std::string product = "(" + twice(type) + ")" + out.get(a, type) + " * " + out.get(b, type);
    if (adds) {
      const Type result = halves ? Type::u32 : Type::u64;
      out.set(source.slot(0), result, "(u64)(" + product + ") + " + out.get(source.slot(3), result));
    } else {
      out.set(source.slot(0), is_signed(type) ? Type::s64 : Type::u64, product);
    }
    return true;
  }
  const Type unsigned_type = wrapping(type);
  std::string value = high ? "(" + name_in_c(type) + ")(((" + twice(type) + ")" + out.get(a, type) + " * " +
                                 out.get(b, type) + ") >> " + std::to_string(8 * bytes_of(type)) + ")"
                           : out.get(a, unsigned_type) + " * " + out.get(b, unsigned_type);
  if (adds)
    value = "(" + name_in_c(unsigned_type) + ")(" + value + ") + " + out.get(source.slot(3), unsigned_type);
  out.set(source.slot(0), type, value);
  return true;
}

}  // namespace translated_integers

bool translate_integer(Emitter& out, Source& source, Type given) {
  using namespace translated_integers;
  if (!is_plain(given)) return false;
  const Type type = as_number(given);
  Modifiers& modifiers = source.modifiers;
  const std::string& name = modifiers.name();
  if (name == "mul" || name == "mad") return multiply(out, source, type);
  if (!modifiers.none_left()) return false;
  const Type bits = wrapping(type);
  const std::string c_type = name_in_c(type);
  const auto a = [&](Type as) { return out.get(source.slot(1), as); };
  const auto b = [&](Type as) { return out.get(source.slot(2), as); };
  std::string value;
  if (name == "add") {
    value = a(bits) + " + " + b(bits);
  } else if (name == "sub") {
    value = a(bits) + " - " + b(bits);
  } else if (name == "div" || name == "rem") {
    value = name + "_" + c_type + "(" + a(type) + ", " + b(type) + ")";
  } else if (name == "min" || name == "max") {
    value = a(type) + (name == "min" ? " < " : " > ") + b(type) + " ? " + a(type) + " : " + b(type);
  } else if (name == "neg") {
    value = "0 - " + a(bits);
  } else if (name == "abs") {
    value = a(type) + " < 0 ? 0 - " + a(bits) + " : " + a(bits);
  } else {
    return false;
  }
  out.set(source.slot(0), type, value);
  return true;
}

bool translate_arithmetic(Emitter& out, Source& source) {
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

}  // namespace opgate::simulator
