// Reads the body of a function.
#pragma once

#include "ptx/program_builder.h"

namespace opgate::simulator {

/// Decodes the instructions of a function, which has this index in the program. Throws ParseError.
void read_body(ProgramBuilder& builder, const DeclaredFunction& declared, std::size_t index,
               Function& function);

}  // namespace opgate::simulator
