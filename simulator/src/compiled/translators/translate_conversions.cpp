// cvt: between integers and numbers of all widths.
#include <algorithm>
#include <optional>

#include "compiled/translators/translators.h"

namespace opgate::simulator {
namespace translated_conversions {

struct Conversion {
  Type to = Type::none;
  Type from = Type::none;
  std::string rounding;   ///< "rn" and so on, or empty
  bool integral = false;  ///< rounds to an integer: rni and so on
  bool flush = false;
  bool saturate = false;
};

bool is_float(Type type) {
  return type == Type::f16 || type == Type::bf16 || type == Type::f32 || type == Type::f64;
}

std::optional<Conversion> take(Modifiers& modifiers) {
  Conversion conversion;
  for (const char* const word : {"rni", "rzi", "rmi", "rpi"}) {
    if (!modifiers.take(word)) continue;
    conversion.rounding = std::string(word).substr(0, 2);
    conversion.integral = true;
  }
  for (const char* const word : {"rn", "rz", "rm", "rp"}) {
    if (modifiers.take(word)) conversion.rounding = word;
  }
  conversion.flush = modifiers.take("ftz");
  conversion.saturate = modifiers.take("sat");
  conversion.to = modifiers.take_type();
  conversion.from = modifiers.take_type();
  if (!modifiers.none_left()) return std::nullopt;
  return conversion;
}

// A source of fewer than 64 bits as f32, one of 64 bits as f64.
std::string number(Emitter& out, Slot slot, const Conversion& conversion) {
  switch (conversion.from) {
    case Type::f16:
      return "f32_of_half(" + out.get(slot, Type::u16) + ")";
    case Type::bf16:
      return "f32_of_bfloat16(" + out.get(slot, Type::u16) + ")";
    case Type::f32:
      return conversion.flush ? "flushed(" + out.get(slot, Type::f32) + ")" : out.get(slot, Type::f32);
    default:
      return out.get(slot, Type::f64);
  }
}

std::string to_integral(const std::string& value, const std::string& rounding) {
  return "integral_" + (rounding.empty() ? "rn" : rounding) + "(" + value + ")";
}

void to_integer(Emitter& out, Source& source, const Conversion& conversion) {
  const std::string type = name_in_c(conversion.to);
  const std::string value =
      to_integral("(f64)" + number(out, source.slot(1), conversion), conversion.rounding);
  const char* const from_f64 = conversion.from == Type::f64 ? ", 1))" : ", 0))";
  out.set(source.slot(0), conversion.to,
          "to_integer_" + type + "(" + value + ", OPGATE_INTEGER_OF_NAN(" + type + from_f64);
}

bool to_float(Emitter& out, Source& source, const Conversion& conversion, std::string value) {
  if (conversion.to == Type::f64) {
    if (conversion.saturate) return false;
    set_double(out, source, "(f64)(" + value + ")");
    return true;
  }
  const bool small = conversion.to != Type::f32;
  // From double precision, 16 bits would be rounded twice.
  if (small && (conversion.saturate || conversion.flush || conversion.from == Type::f64)) return false;
  if (small) {
    const char* const function = conversion.to == Type::f16 ? "half_of_f32(" : "bfloat16_of_f32(";
    out.set(source.slot(0), Type::u16, function + value + ")");
    return true;
  }
  const bool is_double = conversion.from == Type::f64;
  if (is_double && conversion.flush) return false;
  if (conversion.saturate) value = "saturated_f64((f64)(" + value + "))";
  value = "(f32)(" + value + ")";
  // NaN keeps its payload.
  if (is_double || conversion.from == Type::bf16) {
    out.set(source.slot(0), Type::f32, value);
  } else {
    out.set_result(source.slot(0), conversion.flush ? "flushed(" + value + ")" : value);
  }
  return true;
}

bool of_pair(Emitter& out, Source& source, const Conversion& conversion) {
  const bool is_half = conversion.to == Type::f16x2;
  if ((!is_half && conversion.to != Type::bf16x2) || conversion.from != Type::f32 ||
      conversion.rounding != "rn" || conversion.flush || conversion.saturate)
    return false;
  const std::string function = is_half ? "half_of_f32(" : "bfloat16_of_f32(";
  out.set(source.slot(0), Type::u32,
          "(u32)" + function + out.get(source.slot(1), Type::f32) + ") << 16 | " + function +
              out.get(source.slot(2), Type::f32) + ")");
  return true;
}

}  // namespace translated_conversions

static bool translate_conversion(Emitter& out, Source& source) {
  using namespace translated_conversions;
  const std::optional<Conversion> conversion = take(source.modifiers);
  if (!conversion) return false;
  const auto& [to, from, rounding, integral, flush, saturate] = *conversion;
  if (source.form.total == 3) return of_pair(out, source, *conversion);
  const bool nearest = rounding.empty() || rounding == "rn";
  if (is_integer(from) && is_integer(to)) {
    if (saturate) return false;
    out.set(source.slot(0), to, out.get(source.slot(1), from));
    return true;
  }
  if (is_float(from) && is_integer(to)) {
    to_integer(out, source, *conversion);
    return true;
  }
  if (!is_float(to)) return false;
  if (is_integer(from)) {
    if (!nearest || (to != Type::f32 && to != Type::f64) || saturate || flush) return false;
    out.set(source.slot(0), to, "(" + name_in_c(to) + ")" + out.get(source.slot(1), from));
    return true;
  }
  if (!is_float(from) || (!nearest && !integral)) return false;
  std::string value = number(out, source.slot(1), *conversion);
  if (integral) value = to_integral("(f64)" + value, rounding);
  // An integral number of the same type is not rounded again. One of a narrower type would be, in the same
  // direction.
  if (integral && bytes_of(to) < std::max<std::size_t>(bytes_of(from), 4)) return false;
  return to_float(out, source, *conversion, value);
}

std::vector<TranslationRow> translations_of_conversions() {
  return {
      {"cvt", &translate_conversion},
  };
}

}  // namespace opgate::simulator
