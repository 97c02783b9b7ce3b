// Where something happened, for findings.
#pragma once

#include <cstdint>
#include <string>

#include "machine/launches/launch.h"
#include "ptx/program.h"

namespace opgate::simulator {

/// "file:line" where the PTX has `.loc`, else "line N of the PTX".
inline std::string location_in(const Program& program, const Instruction& instruction) {
  return instruction.location != 0 ? program.locations[instruction.location]
                                   : "line " + std::to_string(instruction.line) + " of the PTX";
}

/// The instruction of the program that has this number.
inline const Instruction& instruction_at(const Program& program, std::uint32_t site) {
  std::size_t function = 0;
  while (function + 1 < program.functions.size() && program.functions[function + 1]->first_number <= site)
    ++function;
  return program.functions[function]->code[site - program.functions[function]->first_number];
}

}  // namespace opgate::simulator
