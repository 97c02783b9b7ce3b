// How translated code reaches memory, as machine/memory/memory.h does in the interpreter.
#pragma once

#include <cstddef>
#include <string>

#include "compiled/emitter.h"
#include "machine/launches/launch.h"
#include "ptx/types.h"

namespace opgate::simulator::places {

/// The type of bits of so many bytes; none if there is no such type.
Type of_bits(std::size_t bytes);

/// How a number is loaded and stored: in memory it is its bits. Only signed integers are extended by their
/// sign.
Type in_memory(Type type);

struct Place {
  Space space = Space::generic;
  Type type = Type::none;
  std::size_t lanes = 1;
  std::size_t bytes = 0;  ///< of all lanes
};

/// For a load or a store. The type is none if a word of the instruction is not known.
Place take_place(const Emitter& out, Source& source);

/// An expression for the place, if it is a parameter of the kernel that needs no check; otherwise empty.
std::string known_parameter(const Emitter& out, const Source& source, const Place& place, Slot base);

/// An expression for the place, with all checks.
std::string located(Emitter& out, const Source& source, const Place& place, Slot base, Access access);

/// The beginning of a call of `load_u32` or `store_u32`, for example.
std::string access(const char* name, Type type);

}  // namespace opgate::simulator::places
