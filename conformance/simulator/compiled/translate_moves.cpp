// Moves between registers, and from and to memory, and atomic accesses of integers.
#include <array>

#include "simulator/compiled/translators.h"
#include "simulator/machine/compiled_thread.h"
#include "simulator/numbers/atomic_operations.h"

namespace opgate::simulator {
namespace translated_moves {

Type of_bits(std::size_t bytes) {
  return bytes == 1   ? Type::u8
         : bytes == 2 ? Type::u16
         : bytes == 4 ? Type::b32
         : bytes == 8 ? Type::b64
                      : Type::none;
}

// In memory a number is its bits. Only signed integers are extended by their sign.
Type in_memory(Type type) {
  switch (type) {
    case Type::f32:
    case Type::f64:
    case Type::s8:
    case Type::s16:
    case Type::s32:
    case Type::s64:
      return type;
    default:
      return of_bits(bytes_of(type));
  }
}

struct Place {
  Space space = Space::generic;
  Type type = Type::none;
  std::size_t lanes = 1;
  std::size_t bytes = 0;  ///< of all lanes
};

Place take_place(const Emitter& out, Source& source) {
  Modifiers& modifiers = source.modifiers;
  modifiers.take_hints();
  Place place;
  place.space = modifiers.take_space();
  if (place.space == Space::parameter && (source.form.names_local || !out.is_kernel()))
    place.space = Space::local;
  place.lanes = static_cast<std::size_t>(modifiers.take_lanes());
  place.type = in_memory(modifiers.take_type());
  if (!modifiers.none_left() || place.type == Type::pred) place.type = Type::none;
  place.bytes = place.lanes * bytes_of(place.type);
  return place;
}

// Parameters at a place that is known need no check.
std::string known_parameter(const Emitter& out, const Source& source, const Place& place, Slot base) {
  if (place.space != Space::parameter || !out.is_constant(base)) return {};
  const std::uint64_t offset = out.constant(base) + static_cast<std::uint64_t>(source.in.immediate);
  const std::uint64_t size = out.program().signature.parameter_bytes;
  if (offset % place.bytes != 0 || offset > size || size - offset < place.bytes) return {};
  return "c->parameters + " + std::to_string(offset);
}

std::string located(Emitter& out, const Source& source, const Place& place, Slot base, Access access) {
  std::string address = out.get(base, Type::u64);
  if (source.in.immediate != 0)
    address += " + " + unsigned_number(static_cast<std::uint64_t>(source.in.immediate));
  const std::string rest = std::to_string(source.index) + ", left + " + std::to_string(source.behind) + ", " +
                           address + ", " + std::to_string(place.bytes) + ", " +
                           std::to_string(way_of(place.space, access)) + ")";
  switch (place.space) {
    case Space::shared:
      return "own_at(c, S, shared_bytes, " + rest;
    case Space::local:
      return "own_at(c, c->local, c->local_bytes, " + rest;
    case Space::parameter:
      return "own_at(c, c->parameters, c->parameter_bytes, " + rest;
    case Space::global:
    case Space::generic:
      break;
  }
  return "global_at(c, " + std::to_string(source.in.site) + ", " + rest;
}

std::string access(const char* name, Type type) { return std::string(name) + name_in_c(type) + "("; }

}  // namespace translated_moves

static bool translate_load(Emitter& out, Source& source) {
  using namespace translated_moves;
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
  using namespace translated_moves;
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

// The function of C that does it in one access, and gives what was there before; null if there is none.
static const char* in_one_access(int operation) {
  switch (static_cast<AtomicOperation>(operation)) {
    case AtomicOperation::conjunction:
      return "__atomic_fetch_and";
    case AtomicOperation::disjunction:
      return "__atomic_fetch_or";
    case AtomicOperation::exclusive:
      return "__atomic_fetch_xor";
    case AtomicOperation::add:
      return "__atomic_fetch_add";
    default:
      return nullptr;
  }
}

// While several threads of the host run the launch, `old` and what becomes of it must be one access.
static void change_at_once(Emitter& out, const std::string& name, int operation,
                           const std::string& combined) {
  out.line("  if (UNLIKELY(c->is_spread)) {");
  if (const char* const function = in_one_access(operation); function != nullptr) {
    out.line("  old = " + std::string(function) + "((" + name + "*)place, value, __ATOMIC_RELAXED);");
  } else {
    out.line("  while (!__atomic_compare_exchange_n((" + name + "*)place, &old, " + combined +
             ", 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {}");
  }
  out.line("  } else");
}

// What becomes of a place that holds `old`, as combined_integer() has it.
static std::string combined_in_c(int operation) {
  static constexpr std::array<const char*, 9> kResults{
      "old & value",
      "old | value",
      "old ^ value",
      "value",
      "(u64)old + (u64)value",
      "old >= value ? 0 : (u64)old + 1",
      "old == 0 || old > value ? value : (u64)old - 1",
      "value < old ? value : old",
      "value > old ? value : old",
  };
  return kResults[static_cast<std::size_t>(operation)];
}

static bool translate_atomic(Emitter& out, Source& source) {
  using namespace translated_moves;
  Modifiers& modifiers = source.modifiers;
  const bool returns = modifiers.name() == "atom";
  const bool swaps = modifiers.take("cas");
  if (modifiers.has("L2::cache_hint") || modifiers.has("async")) return false;
  modifiers.take_hints();
  Place place;
  place.space = modifiers.take_space();
  if (modifiers.take_lanes() != 1) return false;
  const auto operation = modifiers.take_one({"and", "or", "xor", "exch", "add", "inc", "dec", "min", "max"});
  const Type type = modifiers.take_type();
  const bool is_integer = type == Type::b32 || type == Type::b64 || type == Type::u32 || type == Type::u64 ||
                          type == Type::s32 || type == Type::s64;
  const std::size_t at_address = returns ? 1 : 0;
  if (!is_integer || swaps == operation.has_value() || !modifiers.none_left() ||
      source.form.total != at_address + (swaps ? 3u : 2u))
    return false;
  place.type = in_memory(type);
  place.bytes = bytes_of(type);
  const std::string name = name_in_c(place.type);
  out.line("  { u8* const place = " + located(out, source, place, source.slot(at_address), Access::atomic) +
           ";");
  out.line("  " + name + " old = " + access("load_", place.type) + "place);");
  out.line("  const " + name + " value = " + out.get(source.slot(at_address + 1), place.type) + ";");
  if (swaps) {
    out.line("  if (old == value) " + access("store_", place.type) + "place, " +
             out.get(source.slot(at_address + 2), place.type) + ");");
  } else {
    const std::string combined = "(" + name + ")(" + combined_in_c(*operation) + ")";
    if (commutes(static_cast<AtomicOperation>(*operation)) && place.space != Space::shared)
      change_at_once(out, name, *operation, combined);
    out.line("  " + access("store_", place.type) + "place, " + combined + ");");
  }
  if (returns) out.set(source.slot(0), place.type, "old");
  out.line("  }");
  return true;
}

// {a, b} of the parts of one register, lowest bits first, or one register of its parts.
static bool translate_move(Emitter& out, Source& source) {
  using namespace translated_moves;
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
      {"mov", &translate_move},   {"cvta", &translate_address}, {"ld", &translate_load},
      {"ldu", &translate_load},   {"st", &translate_store},     {"atom", &translate_atomic},
      {"red", &translate_atomic},
  };
}

}  // namespace opgate::simulator
