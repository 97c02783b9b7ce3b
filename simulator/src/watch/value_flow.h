// How the bits of an instruction's sources reach its results, for values that came from unwritten memory.
#pragma once

#include <cstdint>
#include <vector>

#include "ptx/program.h"

namespace opgate::simulator {

struct ValueFlow {
  enum class Kind : std::uint8_t {
    whole,    ///< each bit of a result depends on all sources
    bits,     ///< bits move, or are combined one by one: a choice, a mask, a shift, a conversion of integers
    halves,   ///< two numbers of 16 bits, each for itself
    pack,     ///< the two sources become the upper and the lower half of the result
    shuffle,  ///< one operand moves from lane to lane, of which others may decide
    product,  ///< of matrices: a NaN among the factors makes a NaN of each sum that it reaches
    integer_product,  ///< of matrices: a factor reaches the sums of its products, unless the other one is 0
    factors,          ///< the first two sources are multiplied, and 0 hides the other one
  };

  Kind kind = Kind::whole;
  std::uint8_t results = 0;  ///< slots, which come first
  std::uint8_t total = 0;    ///< slots
  bool reads_results = false;
  bool matters = false;                    ///< it has an effect besides its results, which the sources decide
  bool meets = false;                      ///< the threads of a warp execute it together
  bool is_signed = false;                  ///< a load, which extends its value by the sign
  std::uint64_t mask = ~std::uint64_t{0};  ///< the bits of a result
  std::uint8_t bits = 64;                  ///< of a number of a pack or a product, or of a factor
};

/// For each instruction of the program, in the order of their numbers.
std::vector<ValueFlow> flows_of(const Program& program);

}  // namespace opgate::simulator
