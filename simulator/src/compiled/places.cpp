#include "compiled/places.h"

#include "machine/launches/compiled_thread.h"

namespace opgate::simulator::places {

Type of_bits(std::size_t bytes) {
  return bytes == 1   ? Type::u8
         : bytes == 2 ? Type::u16
         : bytes == 4 ? Type::b32
         : bytes == 8 ? Type::b64
                      : Type::none;
}

Type in_memory(Type type) {
  const bool is_itself = type == Type::f32 || type == Type::f64 || is_signed(type);
  return is_itself ? type : of_bits(bytes_of(type));
}

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

}  // namespace opgate::simulator::places
