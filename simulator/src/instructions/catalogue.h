// All instructions that are simulated.
#pragma once

#include "ptx/instruction_set.h"

namespace opgate::simulator {

const InstructionSet& instruction_set();

}  // namespace opgate::simulator
