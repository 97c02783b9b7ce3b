// What is known of all instructions of one name. Each of them has one row, in the file of its group in
// instructions/.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ptx/draft.h"
#include "ptx/effect.h"
#include "ptx/value_flow.h"

namespace opgate::simulator {

/// Whether the first operand is a result, which the instruction writes and does not read.
enum class Result : std::uint8_t {
  none,
  first,
  of_reduction,   ///< `bar.red` has one, other barriers do not
  unless_stored,  ///< all of `wmma` but its stores
  of_products,    ///< `wgmma.mma_async` has one, which it reads as well: sums that it adds to
  of_mbarrier,    ///< arrivals and questions have one; `init`, `inval` and counts of bytes do not
};

/// Whether the thread may have to wait, so that compiled code must let the interpreter decide what comes
/// next.
enum class Waits : std::uint8_t {
  never,
  for_lanes,    ///< of the mask that the last operand gives; without `.sync`, `otherwise`
  for_warp,     ///< all 32 threads execute it together
  otherwise,    ///< for a block, for time, or for lanes that no mask gives
  if_it_looks,  ///< those of `mbarrier` that ask whether a phase is complete; others never
};

// No member has a default, so that the compiler refuses a row in which one is missing.
struct Opcode {
  Selector select;
  std::size_t least;  ///< operands, where `{a, b}`, `[a+4]` and `p|q` are one
  std::size_t most;
  Result result;
  Waits waits;
  EffectReader effect;
  ValueFlowReader flow;
};

/// `most` of an instruction whose operands need not be read.
constexpr std::size_t kNotRead = 99;

}  // namespace opgate::simulator
