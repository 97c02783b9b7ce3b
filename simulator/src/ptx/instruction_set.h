// What reading PTX needs of the instructions, whose meaning it does not know.
#pragma once

#include "ptx/opcode.h"

namespace opgate::simulator {

struct Function;

struct InstructionSet {
  /// Null for a name that no instruction has, or whose operands are of a kind that is not simulated.
  const Opcode* (*opcode_of)(const Modifiers& words) = nullptr;

  // What executes an instruction that is not chosen by its opcode alone, or that no text names.
  Handler unsupported = nullptr;
  Handler call = nullptr;
  Handler assertion = nullptr;      ///< a call of `__assertfail`
  Handler print = nullptr;          ///< a call of `vprintf`
  Handler allocate = nullptr;       ///< a call of `malloc`
  Handler release = nullptr;        ///< a call of `free`
  Handler set_condition = nullptr;  ///< a call of `cudaGraphSetConditional`
  Handler branch_table = nullptr;   ///< `brx.idx`
  Handler clock = nullptr;  ///< reads `%clock` and its like, in front of the instruction that names it
  Handler not_predicate = nullptr;  ///< computes `!p`, in front of the instruction that has it as an operand

  /// Changes what executes instructions because of others of their function, when all are known.
  void (*settle)(Function& function) = nullptr;
};

}  // namespace opgate::simulator
