// What lies at an address of a device, in the words of an operator's arguments.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "inputs/arguments.h"

namespace opgate {

/// The element of an argument that lies at the address: "x[1, 3]", "the gap after x[1, 3]". None if the
/// address lies in the storage of no argument.
std::optional<std::string> element_at(const Arguments& arguments, std::uint64_t address);

}  // namespace opgate
