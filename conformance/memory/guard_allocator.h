// The CPU allocator of the worker: every block that torch asks for lies between two red zones, is filled with
// poison when it is new and again when it is given back, and is known for as long as it lives.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "memory/poison.h"

namespace opgate {

/// Where new blocks are put.
enum class Place {
  heap,      ///< red zones around them: a write outside is found afterwards
  page_end,  ///< flush against an inaccessible page behind: the first byte out of bounds faults, in reads too
  page_start,  ///< the same before the block
};

struct Block {
  const void* data;
  size_t bytes;
  uint64_t serial;  ///< grows by one with each block

  bool operator==(const Block&) const = default;
};

/// Bytes of a red zone, or of a block that was given back, that are no longer what they were.
struct Damage {
  Block block;
  enum class Kind { before, after, freed } kind;
  std::ptrdiff_t offset;  ///< of the first such byte: from the block's begin, or from its end where after it
  size_t bytes;           ///< changed bytes
};

namespace guard {

/// Makes torch allocate CPU memory here from now on; once a process.
void install();

/// Poison and place of the blocks made from now on.
void use(const Poison& poison, Place place = Place::heap);

/// The serial that the next block gets: blocks made from now on have at least this one.
uint64_t next_serial();

/// Blocks with this serial or a later one that are alive, the latest first.
std::vector<Block> alive_since(uint64_t serial);

/// Damage around blocks with this serial or a later one: those alive now, and those freed meanwhile. Forgets
/// what it reports, and mends it.
std::vector<Damage> take_damage_since(uint64_t serial);

/// Gives memory that was freed, and is kept to see who still touches it, back to the system.
void release_freed();

/// The block that `data` points into; one with no data where there is none.
Block block_of(const void* data);

/// What a fault in the inaccessible page beside the block is reported as: "`x`".
void label(const void* data, const std::string& name);

}  // namespace guard

/// Uses a poison and a place, and goes back to kFirstPoison on the heap at the end.
class GuardScope {
 public:
  explicit GuardScope(const Poison& poison, Place place = Place::heap) { guard::use(poison, place); }
  ~GuardScope() { guard::use(kFirstPoison, Place::heap); }
  GuardScope(const GuardScope&) = delete;
  GuardScope& operator=(const GuardScope&) = delete;
};

}  // namespace opgate
