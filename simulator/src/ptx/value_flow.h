// How the bits of an instruction's sources reach its results, for values that came from unwritten memory.
#pragma once

#include <cstdint>

#include "ptx/modifiers.h"

namespace opgate::simulator {

struct ValueFlow {
  enum class Kind : std::uint8_t {
    whole,    ///< each bit of a result depends on all sources
    bits,     ///< bits move, or are combined one by one: a choice, a mask, a shift, a conversion of integers
    halves,   ///< two numbers of 16 bits, each for itself
    pack,     ///< if there are two sources, they become the upper and the lower half of the result
    shuffle,  ///< one operand moves from lane to lane, of which others may decide
    product,  ///< of matrices: a NaN among the factors makes a NaN of each sum that it reaches
    integer_product,  ///< of matrices: a factor reaches the sums of its products, unless the other one is 0
    factors,          ///< the first two sources are multiplied, and 0 hides the other one
  };

  Kind kind = Kind::whole;
  bool matters = false;  ///< it has an effect besides its results, which the sources decide
  bool meets = false;    ///< the threads of a warp execute it together
  /// It only gives bits of registers, or a constant, to other registers: `mov`, also of packed values, and
  /// conversions of integers that take the lower half of a register. ptxas gives its result the register of
  /// its source, wherever in the program it stands.
  bool only_moves = false;
  std::uint8_t bits = 64;                  ///< of a number of a pack or a product, or of a factor
  std::uint64_t mask = ~std::uint64_t{0};  ///< the bits of a result
};

/// Reads the flow of an instruction from its words: all members but `matters` and `meets`, which follow from
/// its effect and from what it waits for. Only an effect that the rest does not show sets `matters`.
using ValueFlowReader = ValueFlow (*)(const Modifiers& words);

}  // namespace opgate::simulator
