// What is known of an instruction besides what its handler needs.
#pragma once

#include <cstdint>
#include <string_view>

#include "ptx/effect.h"
#include "ptx/opcode.h"
#include "ptx/value_flow.h"

namespace opgate::simulator {

/// What an instruction is, and how its operands fill its slots. A translation and the tools must know it;
/// instructions themselves do not hold it, because their handlers know.
struct OperandForm {
  std::uint8_t first = 0;    ///< slots of the first operand
  std::uint8_t total = 0;    ///< of all operands
  std::uint8_t results = 0;  ///< slots that it writes, the first ones
  bool names_local = false;  ///< an address of the parameter space that lies in local memory
  bool reads_results = false;
  bool reads_immediate = false;  ///< its immediate is a slot that it reads
  Waits waits = Waits::never;
  Effect effect;
  ValueFlow flow;
  /// Null for calls, for `brx.idx`, for what is inserted in front of an instruction, and for what is not
  /// simulated.
  const Opcode* opcode = nullptr;
};

/// Fills what follows from the opcode, after the slots are counted. `text`: the opcode with its modifiers.
/// `has_address`: one of the operands is in brackets.
void describe(OperandForm& form, const Opcode& opcode, std::string_view text, bool has_address);

}  // namespace opgate::simulator
