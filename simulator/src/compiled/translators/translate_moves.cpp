// Moves between registers, and from and to memory.
#include "compiled/places.h"
#include "compiled/translators/translators.h"

namespace opgate::simulator {
static bool translate_load(Emitter& out, Source& source) {
  using namespace places;
  const Place place = take_place(out, source);
  if (place.type == Type::none || source.form.total != place.lanes + 1) return false;
  const Slot base = source.slot(place.lanes);
  std::string from = known_parameter(out, source, place, base);
  if (from.empty()) from = located(out, source, place, base, Access::load);
  out.line("  { const u8* const from = " + from + ";");
  for (std::size_t lane = 0; lane < place.lanes; ++lane)
    out.set(source.slot(lane), place.type,
            access("load_", place.type) + "from + " + std::to_string(lane * bytes_of(place.type)) + ")");
  out.line("  }");
  return true;
}

static bool translate_store(Emitter& out, Source& source) {
  using namespace places;
  const Place place = take_place(out, source);
  if (place.type == Type::none || source.form.total != place.lanes + 1 || place.space == Space::parameter)
    return false;
  out.line("  { u8* const to = " + located(out, source, place, source.slot(0), Access::store) + ";");
  for (std::size_t lane = 0; lane < place.lanes; ++lane)
    out.line("  " + access("store_", place.type) + "to + " + std::to_string(lane * bytes_of(place.type)) +
             ", " +
             (place.type == Type::f32 ? out.get_exactly(source.slot(lane + 1))
                                      : out.get(source.slot(lane + 1), place.type)) +
             ");");
  out.line("  }");
  return true;
}

// {a, b} of the parts of one register, lowest bits first, or one register of its parts.
static bool translate_move(Emitter& out, Source& source) {
  using namespace places;
  const Type given = source.modifiers.take_type();
  if (!source.modifiers.none_left()) return false;
  const std::size_t parts = source.form.total - 1u;
  if (parts > 1) {
    const std::size_t bytes = bytes_of(given) / parts;
    const Type part = of_bits(bytes);
    if (part == Type::none || bytes == 8) return false;
    const bool splits = source.form.first > 1;
    std::string joined;
    if (splits) out.line("  { const u64 whole = " + out.get(source.slot(parts), Type::u64) + ";");
    for (std::size_t i = 0; i < parts; ++i) {
      const std::string shift = std::to_string(8 * bytes * i);
      if (splits) {
        out.set(source.slot(i), part, "whole >> " + shift);
      } else {
        joined += (i == 0 ? "(u64)" : " | (u64)") + out.get(source.slot(i + 1), part) + " << " + shift;
      }
    }
    if (splits) {
      out.line("  }");
    } else {
      out.set(source.slot(0), Type::u64, joined);
    }
    return true;
  }
  Type type = given == Type::pred ? given : of_bits(bytes_of(given));
  if (given == Type::f32 || given == Type::f64) type = given;
  if (type == Type::none || type == Type::u8) return false;
  out.set_choice(source.slot(0), type, "", source.slot(1), source.slot(1));
  return true;
}

static bool translate_address(Emitter& out, Source& source) {
  out.set(source.slot(0), Type::u64,
          out.get(source.slot(1), Type::u64) + " + " +
              unsigned_number(static_cast<std::uint64_t>(source.in.immediate)));
  return true;
}

std::vector<TranslationRow> translations_of_moves() {
  return {
      {"mov", &translate_move}, {"cvta", &translate_address}, {"ld", &translate_load},
      {"ldu", &translate_load}, {"st", &translate_store},
  };
}

}  // namespace opgate::simulator
