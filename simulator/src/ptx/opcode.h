// What is known of all instructions of one name. Each of them has one row, in the file of its group in
// instructions/.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ptx/draft.h"

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
  for_lanes,    ///< of the mask that the last operand gives; without `.sync`, of those that are there
  for_warp,     ///< all 32 threads execute it together
  otherwise,    ///< for a block, for time, or for lanes that no mask gives
  if_it_looks,  ///< those of `mbarrier` that ask whether a phase is complete
};

/// What it does besides computing a result.
enum class Effect : std::uint8_t {
  none,
  remote_address,  ///< computes one in another block of a cluster, and faults if there is none
  load,
  store,
  atomic,     ///< reads and writes memory, and gives the old value
  reduction,  ///< does not give it
  fence,
  barrier,
  grid_dependency,  ///< waits for the launches before this one, or lets the next one begin
  load_matrix,
  store_matrix,
  fragment,  ///< `wmma`, of which some load or store
  mbarrier,
  tensor_map,  ///< changes or copies one; no tool looks at these accesses
  image,       ///< reads or writes one through an object; no tool looks at these accesses
  product,     ///< `wgmma` and what belongs to it
  copy,        ///< `cp.async` and what belongs to it
  branch,      ///< to the target in its immediate
  leave_function,
  leave_kernel,
};

// No member has a default, so that the compiler refuses a row in which one is missing.
struct Opcode {
  Selector select;
  std::size_t least;  ///< operands, where `{a, b}`, `[a+4]` and `p|q` are one
  std::size_t most;
  Result result;
  Waits waits;
  Effect effect;

  bool has_result(const Modifiers& words) const;
  /// Whether the result is a source, too.
  bool reads_result() const { return result == Result::of_products; }
  /// One of the first four; for instructions without `.sync`, the last of these.
  Waits waits_with(const Modifiers& words) const;
};

/// `most` of an instruction whose operands need not be read.
constexpr std::size_t kNotRead = 99;

}  // namespace opgate::simulator
