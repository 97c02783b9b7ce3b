// Arithmetic of floating-point numbers.
#include "compiled/translators/translators.h"
#include "numbers/approximation.h"

namespace opgate::simulator {
namespace translated_floats {

// Empty for an operation that is not translated.
std::string operation(const std::string& name, bool approximate, Type type, const std::string& a,
                      const std::string& b, const std::string& c) {
  const bool single = type == Type::f32;
  const std::string of_type = single ? "_f32" : "_f64";
  if (name == "add") return a + " + " + b;
  if (name == "sub") return a + " - " + b;
  if (name == "mul") return a + " * " + b;
  if (name == "fma" || name == "mad")
    return std::string(single ? "__builtin_fmaf(" : "__builtin_fma(") + a + ", " + b + ", " + c + ")";
  if (name == "div") return approximate ? "div_approx(" + a + ", " + b + ")" : a + " / " + b;
  if (name == "min" || name == "max") return name + of_type + "(" + a + ", " + b + ")";
  if (name == "rcp") return "1 / " + a;
  if (name == "sqrt") return std::string(single ? "__builtin_sqrtf(" : "__builtin_sqrt(") + a + ")";
  return {};
}

// What `.rz`, `.rm` and `.rp` are in directed_rounding.h; empty for rounding to nearest.
std::string take_direction(Modifiers& modifiers) {
  if (modifiers.take("rz")) return "0";
  if (modifiers.take("rm")) return "-1";
  return modifiers.take("rp") ? "1" : "";
}

// An operation that is not rounded to nearest. Empty for one that is not translated: a product and a sum of
// double precision have a rest that needs more than one number.
std::string directed_operation(std::string name, Type type, const std::string& operands,
                               const std::string& direction) {
  if (name == "mad") name = "fma";
  const bool is_known = name == "add" || name == "sub" || name == "mul" || name == "div" || name == "rcp" ||
                        name == "sqrt" || (name == "fma" && type == Type::f32);
  if (!is_known) return {};
  return name + "_rounded_" + name_in_c(type) + "(" + operands + ", " + direction + ")";
}

// The result of what may be rounded from a subnormal to the least normal number, which `.ftz` must not do:
// the interpreter knows.
void set_flushed(Emitter& out, Source& source, const std::string& value) {
  std::string sources;
  for (std::size_t i = 1; i <= 3; ++i)
    sources += ", " + (i < source.form.total ? out.bits_of(source.slot(i)) : std::string("0"));
  out.line("  { const f32 result = " + value + ";");
  out.set_result(source.slot(0),
                 "UNLIKELY(__builtin_fabsf(result) == 0x1p-126f) ? f32_of((u32)c->compute(c, " +
                     std::to_string(source.index) + sources + ")) : flushed(result)");
  out.line("  }");
}

}  // namespace translated_floats

void set_double(Emitter& out, Source& source, const std::string& value) {
  std::string sources;
  for (std::size_t i = 1; i <= 3; ++i)
    sources += ", " + (i < source.form.total ? out.bits_of(source.slot(i)) : std::string("0"));
  out.line("  { const f64 result = " + value + ";");
  out.set(source.slot(0), Type::f64,
          "UNLIKELY(result != result) ? f64_of(c->compute(c, " + std::to_string(source.index) + sources +
              ")) : result");
  out.line("  }");
}

namespace translated_floats {

bool change_sign(Emitter& out, Source& source, Type type) {
  if (!source.modifiers.none_left()) return false;
  const bool single = type == Type::f32;
  const std::string value = out.get(source.slot(1), type);
  const std::string magnitude = std::string(single ? "__builtin_fabsf(" : "__builtin_fabs(") + value + ")";
  const std::string result = source.modifiers.name() == "neg" ? "-" + value : magnitude;
  if (single) {
    out.set_result(source.slot(0), result);
  } else {
    set_double(out, source, result);
  }
  return true;
}

}  // namespace translated_floats

bool translate_float(Emitter& out, Source& source, Type type) {
  using namespace translated_floats;
  Modifiers& modifiers = source.modifiers;
  const std::string& name = modifiers.name();
  if (name == "abs" || name == "neg") return change_sign(out, source, type);
  const bool approximate = name == "div" && modifiers.take("approx");
  const bool full = name == "div" && modifiers.take("full");
  if ((approximate || full) && approximation_edge() != ApproximationEdge::none) return false;
  modifiers.take("rn");
  const std::string direction = take_direction(modifiers);
  const bool flush = modifiers.take("ftz");
  const bool saturate = modifiers.take("sat");
  if (!modifiers.none_left() || (type == Type::f64 && (flush || saturate))) return false;
  const auto operand = [&](std::size_t index) {
    if (index >= source.form.total) return std::string();
    const std::string value = out.get(source.slot(index), type);
    return flush ? "flushed(" + value + ")" : value;
  };
  std::string value;
  if (direction.empty()) {
    value = operation(name, approximate, type, operand(1), operand(2), operand(3));
  } else {
    std::string operands = operand(1);
    for (std::size_t i = 2; i < source.form.total; ++i) operands += ", " + operand(i);
    value = directed_operation(name, type, operands, direction);
  }
  if (value.empty()) return false;
  if (type == Type::f64) {
    set_double(out, source, value);
    return true;
  }
  if (saturate) value = "saturated_f32(" + value + ")";
  if (flush) {
    set_flushed(out, source, value);
  } else {
    out.set_result(source.slot(0), value);
  }
  return true;
}

// The sign of a, the magnitude of b.
static bool translate_copysign(Emitter& out, Source& source) {
  const Type type = source.modifiers.take_type();
  if (type != Type::f32 || !source.modifiers.none_left()) return false;
  out.set(source.slot(0), type,
          "__builtin_copysignf(" + out.get_exactly(source.slot(2)) + ", " + out.get_exactly(source.slot(1)) +
              ")");
  return true;
}

// A sum or product of two numbers of 16 bits may be rounded to single precision first: that has more than
// twice their precision.
bool translate_half(Emitter& out, Source& source, Type type) {
  Modifiers& modifiers = source.modifiers;
  const std::string& name = modifiers.name();
  modifiers.take("rn");
  if (!modifiers.none_left() || (name != "add" && name != "sub" && name != "mul")) return false;
  const std::string operation = name == "add" ? " + " : name == "sub" ? " - " : " * ";
  const auto half = [&](const std::string& shift) {
    return "half_of_f32(f32_of_half(" + out.get(source.slot(1), Type::u32) + shift + ")" + operation +
           "f32_of_half(" + out.get(source.slot(2), Type::u32) + shift + "))";
  };
  const std::string low = half("");
  out.set(source.slot(0), Type::u32, type == Type::f16 ? low : low + " | (u32)" + half(" >> 16") + " << 16");
  return true;
}

static bool translate_function(Emitter& out, Source& source) {
  Modifiers& modifiers = source.modifiers;
  const std::string& name = modifiers.name();
  if (!modifiers.has("approx"))
    return (name == "rcp" || name == "sqrt") && translate_float(out, source, modifiers.take_type());
  if (approximation_edge() != ApproximationEdge::none) return false;
  modifiers.take("approx");
  const bool flush = modifiers.take("ftz");
  const Type type = modifiers.take_type();
  if (!modifiers.none_left() || (type != Type::f32 && type != Type::f64) || (type == Type::f64 && flush))
    return false;
  std::string value = out.get(source.slot(1), type);
  if (flush) value = "flushed(" + value + ")";
  value = "(f64)" + value;
  if (name == "rcp") {
    value = "1 / " + value;
  } else if (name == "sqrt") {
    value = "__builtin_sqrt(" + value + ")";
  } else if (name == "rsqrt") {
    value = "1 / __builtin_sqrt(" + value + ")";
  } else if (name == "ex2") {
    value = "c->exp2(" + value + ")";
  } else if (name == "lg2") {
    value = "c->log2(" + value + ")";
  } else if (name == "tanh") {
    value = "c->tanh(" + value + ")";
  } else {
    return false;
  }
  if (type == Type::f64) {
    set_double(out, source, value);
    return true;
  }
  value = "(f32)(" + value + ")";
  out.set_result(source.slot(0), flush ? "flushed(" + value + ")" : value);
  return true;
}

std::vector<TranslationRow> translations_of_floats() {
  return {
      {"rcp", &translate_function},      {"sqrt", &translate_function}, {"rsqrt", &translate_function},
      {"ex2", &translate_function},      {"lg2", &translate_function},  {"tanh", &translate_function},
      {"copysign", &translate_copysign},
  };
}

}  // namespace opgate::simulator
