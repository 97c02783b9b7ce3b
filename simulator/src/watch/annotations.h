// What an observer must know of an instruction, read from its opcode.
#pragma once

#include <cstdint>
#include <vector>

#include "ptx/types.h"
#include "watch/access_record.h"

namespace opgate::simulator {

struct Program;

/// How far a fence or an atomic access reaches.
enum class Scope : std::uint8_t { block, cluster, device };

struct Annotation {
  enum class Kind : std::uint8_t {
    none,  ///< nothing to watch
    load,
    store,
    atomic,     ///< reads and writes
    reduction,  ///< an atomic access that does not give the old value
    fence,
    arrive,   ///< `bar.arrive`, after which the thread goes on
    barrier,  ///< of the block
    warp_barrier,
    cluster_arrive,  ///< at the barrier of the cluster
    cluster_wait,
    copy,           ///< `cp.async`, which happens when its thread waits for it
    bulk_load,      ///< `cp.async.bulk` to shared memory, which happens before its `mbarrier` is complete
    bulk_store,     ///< `cp.async.bulk` to global memory, which happens when its thread waits for it
    tensor_load,    ///< `cp.async.bulk.tensor` to shared memory
    tensor_store,   ///< from it
    copy_wait,      ///< for copies of the thread
    promise,        ///< an arrival at an `mbarrier` when copies of the thread have happened
    mbarrier,       ///< changes an object: an arrival, or a count of bytes
    mbarrier_look,  ///< asks whether a phase is complete
    product,        ///< `wgmma.mma_async`, which happens before its warp has waited for it
    product_fence,  ///< `wgmma.fence`
    product_commit,
    product_wait,
    grid_wait,     ///< for the launches of the stream that came before
    grid_trigger,  ///< lets the next launch begin, as far as this block is concerned
    proxy_fence,   ///< orders shared memory for what accesses it by the async proxy
    call,
    host_call,  ///< which returns at once
    leave,      ///< a function
    unknown,    ///< accesses memory in a way that no tool knows
  };

  Kind kind = Kind::none;
  std::uint32_t site = 0;        ///< numbers the instructions of the program, from 1
  Space space = Space::generic;  ///< of a copy in bulk, the one that is read
  std::uint8_t bytes = 0;        ///< of all elements
  std::uint8_t lanes =
      1;  ///< of a vector; 0 where what is stored does not lie in the registers behind the address
  std::uint8_t rows = 32;    ///< threads of a warp that access memory, the first ones
  std::uint8_t operand = 0;  ///< which slot holds the address
  Scope scope = Scope::device;
  bool is_strong = false;  ///< atomic, volatile or relaxed: two of these are no race. For a copy: it reduces
  bool is_guess =
      false;  ///< a plain load that races with no strong access, because a compare-and-swap looks again
  bool is_volatile = false;  ///< and does not only wait until somebody else changes the value
  bool acquires = false;     ///< by itself, as `ld.acquire` does. For a fence: what was read before it
  bool releases = false;
  /// Whether what its block has stored must be visible to other blocks before it.
  bool makes_visible = false;
  bool is_swap = false;      ///< a compare-and-swap, which only reads if it fails
  bool is_fragment = false;  ///< many elements of each thread, as `wmma` lays them out
  /// Whether it names a register that a product of the function uses, or a copy of one that is made before
  /// the wait for the product, or writes one that a move copies to it.
  bool names_product_register = false;
  bool only_moves = false;   ///< in such an instruction: it does so whatever the predicates are
  std::uint8_t results = 0;  ///< of such an instruction: the first slots, which it writes
  bool is_aligned = false;   ///< of a barrier: the threads of a warp must come to the same one
  std::uint32_t how = 0;     ///< of `AccessRecord::who_and_how`, all but the thread; see `number`

  /// For a load or store: it orders nothing, and accesses as many bytes as it says.
  bool is_plain() const { return !is_strong && lanes != 0; }

  /// Once all else is known.
  void number(std::uint32_t in_program) {
    site = in_program;
    how = AccessRecord::who_and_how_of(0, site, strength());
  }

 private:
  AccessRecord::Strength strength() const {
    if (!is_strong && !is_guess) return AccessRecord::weak;
    if (is_volatile) return AccessRecord::is_volatile;
    return scope == Scope::block     ? AccessRecord::in_block
           : scope == Scope::cluster ? AccessRecord::in_cluster
                                     : AccessRecord::on_device;
  }
};

/// Whether what a program computes may depend on the order in which its threads run, although it is right:
/// with atomic and volatile accesses, threads may agree on any of several results; clocks differ; and what is
/// done on the host is not watched.
bool may_depend_on_order(const Program& program, const std::vector<Annotation>& annotations);

/// The annotations of all instructions of a program, in the order of their numbers. Instructions that a tool
/// must watch refer to them, for as long as the result exists.
std::vector<Annotation> annotate(Program& program);

}  // namespace opgate::simulator
