// What an instruction does besides computing results, read once from its opcode.
#pragma once

#include <cstdint>

#include "ptx/modifiers.h"
#include "ptx/types.h"

namespace opgate::simulator {

/// How far a fence or an access that orders others reaches.
enum class Scope : std::uint8_t { block, cluster, device };

struct Effect {
  enum class Kind : std::uint8_t {
    none,     ///< it computes results, and accesses no memory
    unknown,  ///< accesses memory in a way that no tool knows
    ignored,  ///< an effect that no tool looks at
    load,
    store,
    atomic,     ///< reads and writes
    reduction,  ///< an atomic access that does not give the old value
    fence,
    proxy_fence,     ///< orders shared memory for what accesses it by the async proxy
    arrive,          ///< `bar.arrive`, after which the thread goes on
    barrier,         ///< of the block
    warp_barrier,    ///< `bar.warp`
    cluster_arrive,  ///< at the barrier of the cluster
    cluster_wait,
    copy,            ///< `cp.async`, which happens when its thread waits for it
    bulk_load,       ///< `cp.async.bulk` to shared memory, which happens before its `mbarrier` is complete
    bulk_store,      ///< `cp.async.bulk` to global memory, which happens when its thread waits for it
    tensor_load,     ///< `cp.async.bulk.tensor` to shared memory
    tensor_store,    ///< from it
    multicast_load,  ///< a copy in bulk to several blocks of a cluster; no tool knows it
    copy_wait,       ///< for copies of the thread
    promise,         ///< an arrival at an `mbarrier` when copies of the thread have happened
    mbarrier,        ///< changes an object: an arrival, or a count of bytes
    mbarrier_look,   ///< asks whether a phase is complete
    product,         ///< `wgmma.mma_async`, which happens before its warp has waited for it
    product_fence,   ///< `wgmma.fence`
    product_commit,
    product_wait,
    grid_wait,       ///< for the launches of the stream that came before
    grid_trigger,    ///< lets the next launch begin, as far as this block is concerned
    tensor_map,      ///< changes or copies one; no tool looks at these accesses
    remote_address,  ///< computes one in another block of a cluster, and faults if there is none
    sleep,
    branch,  ///< to the target in its immediate
    leave_function,
    leave_kernel,
    call,
    host_call,  ///< which returns at once
  };

  Kind kind = Kind::none;
  Space space = Space::generic;  ///< for a copy in bulk, the one that is read
  std::uint8_t bytes = 0;        ///< of all elements
  /// For a vector; 0 if what is stored does not lie in the registers that follow the address.
  std::uint8_t lanes = 1;
  std::uint8_t rows = 32;    ///< threads of a warp that access memory, the first ones
  std::uint8_t operand = 0;  ///< which slot holds the address
  Type type = Type::none;    ///< of an element that is loaded, stored or changed
  Scope scope = Scope::device;
  bool is_strong = false;  ///< atomic, volatile or relaxed: two of these are no race. For a copy: it reduces
  bool is_volatile = false;  ///< and does not only wait until another thread changes the value
  /// `.cv` or `.wt`: by the memory model they are hints, but programs wait for other blocks with them.
  bool bypasses_caches = false;
  bool acquires = false;  ///< by itself, as `ld.acquire` does. For a fence: what was read before it
  bool releases = false;
  /// Whether what its block has stored must be visible to other blocks before it.
  bool makes_visible = false;
  bool is_swap = false;      ///< a compare-and-swap, which only reads if it fails
  bool commutes = false;     ///< atomic accesses of this kind have one outcome in any order
  bool is_fragment = false;  ///< many elements of each thread, as `wmma` lays them out
  bool is_aligned = false;   ///< for a barrier: the threads of a warp must come to the same one

  /// For a load or store: it orders nothing, and accesses as many bytes as it says.
  bool is_plain() const { return !is_strong && lanes != 0; }
  bool is_atomic() const { return kind == Kind::atomic || kind == Kind::reduction; }
  bool begins_copy() const { return kind >= Kind::copy && kind <= Kind::multicast_load; }
  bool leaves() const { return kind == Kind::leave_function || kind == Kind::leave_kernel; }
  /// Whether a tool must see it.
  bool is_watched() const {
    switch (kind) {
      case Kind::none:
      case Kind::ignored:
      case Kind::tensor_map:
      case Kind::remote_address:
      case Kind::sleep:
      case Kind::branch:
        return false;
      default:
        return true;
    }
  }
};

/// Reads the effect of an instruction from its words.
using EffectReader = Effect (*)(const Modifiers& words);

}  // namespace opgate::simulator
