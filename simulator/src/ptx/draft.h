// An instruction while it is being decoded.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ptx/instruction.h"
#include "ptx/modifiers.h"

namespace opgate::simulator {

/// One operand as it is written.
struct Operand {
  enum class Kind : std::uint8_t { value, pair, vector, address };

  Kind kind = Kind::value;
  /// One; two for `p|q`; the elements of `{a, b}` or of a vector; the base of `[a+4]`, and after it the
  /// coordinates of `[a, {x, y}]`.
  std::vector<Slot> slots;
  std::int64_t offset = 0;  ///< of an address
  /// The address begins with a variable of the function or with the parameter of a call, both of which lie in
  /// local memory.
  bool names_local = false;
  bool is_predicate = false;
  std::string_view part = {};  ///< `b0` to `b3`, `h0` or `h1` of `r.b0`, a part of a register
};

struct Draft {
  Modifiers modifiers;
  std::vector<Operand> operands;
  Instruction instruction;
  bool in_kernel = true;           ///< not in a function that a kernel calls
  Slot nowhere = 0;                ///< a slot that nothing reads
  bool keeps_immediate = false;    ///< the offset of the first address comes into a slot after it
  bool immediate_is_slot = false;  ///< the immediate is a slot that the instruction reads

  bool is(std::size_t operand, Operand::Kind kind) const {
    return operand < operands.size() && operands[operand].kind == kind;
  }

  /// The part that an operand names, which is taken from it; an instruction of which one is left is not
  /// simulated.
  std::string_view take_part(std::size_t operand) { return std::exchange(operands[operand].part, {}); }
  bool has_parts() const {
    return std::any_of(operands.begin(), operands.end(),
                       [](const Operand& each) { return !each.part.empty(); });
  }

  /// Makes two results of the first operand where only one is written.
  void pair_results() {
    if (operands.empty() || operands.front().slots.size() > 1) return;
    operands.front().slots.push_back(nowhere);
  }
};

/// Chooses what executes an instruction, by its modifiers and operands. Null if it is not simulated, as is
/// an instruction of which words are left over.
using Selector = Handler (*)(Draft& draft);

}  // namespace opgate::simulator
