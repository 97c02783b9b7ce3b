// Decoded instructions. All that can be decided from the text of an instruction is decided once, by choosing
// the function that executes it.
#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace opgate::simulator {

class Thread;
struct Annotation;
struct Instruction;

using Handler = void (*)(Thread& thread, const Instruction& instruction);

/// A slot of a frame: each register, immediate value and special register that a function names has one of 64
/// bits.
using Slot = std::int32_t;

/// Slots that an instruction holds itself. Few have more: those of matrices.
constexpr std::size_t kMostOperands = 6;

struct Instruction {
  Handler execute = nullptr;
  const std::string* text = nullptr;  ///< the opcode with its modifiers
  std::int64_t immediate =
      0;  ///< the offset of an address, the target of a branch, or what the handler needs to know
  std::array<Slot, kMostOperands> slots{};  ///< in the order of the operands in PTX
  const Slot* wide = nullptr;               ///< all slots, instead of `slots`, where they are more
  std::int32_t guard =
      -1;  ///< twice the slot of the predicate, plus 1 where it is negated; negative without a guard
  std::uint32_t line = 0;
  std::uint32_t location = 0;  ///< index of the `.loc` in the program; 0 where there is none
  std::uint32_t site = 0;      ///< numbers the instructions that access global memory
  /// What an observer must know of it. Null if it only has to be executed, or if no observer has needed it
  /// yet.
  const Annotation* annotation = nullptr;

  /// For any instruction, wide or not.
  Slot slot(std::size_t operand) const { return wide != nullptr ? wide[operand] : slots[operand]; }
};

}  // namespace opgate::simulator
