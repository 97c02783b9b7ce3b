// The CPU allocator of a worker. Every block that torch asks for lies between two red zones, is filled with
// poison when it is allocated and again when it is freed, and is tracked for as long as it lives.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "memory/poison.h"

namespace opgate {

/// Where new blocks are put.
enum class Place {
  heap,        ///< between red zones of 1 KiB: a write out of bounds is found after the call
  far_apart,   ///< between red zones of 64 KiB, for calls that are likely to write far out of bounds
  page_end,    ///< the end lies against an inaccessible page: a read or write past it faults at once
  page_start,  ///< the start lies against an inaccessible page
};

struct Block {
  const void* data;
  size_t bytes;
  uint64_t serial;  ///< grows by one with each block

  bool operator==(const Block&) const = default;
};

/// Bytes of a red zone, or of a freed block, that were written to.
struct Damage {
  Block block;
  enum class Kind { before, after, freed } kind;
  std::ptrdiff_t offset;  ///< of the first such byte, from the block's begin (Kind::after: from its end)
  size_t bytes;           ///< number of changed bytes
};

namespace guard {

/// Makes torch allocate CPU memory here from now on. Further calls in the same process do nothing.
void install();

/// Sets the poison and place of blocks that are allocated from now on.
void use(const Poison& poison, Place place = Place::heap);

/// Blocks of more bytes are refused with a c10::Error, until another limit is set; 0: no limit.
void refuse_above(size_t bytes);

/// The serial of the next block. Blocks that are allocated from now on have this serial or a later one.
uint64_t next_serial();

/// Blocks with this serial or a later one that are alive, the latest first.
std::vector<Block> alive_since(uint64_t serial);

/// Returns the damage around blocks with this serial or a later one, alive or freed since, and repairs it,
/// so that it is reported once. Damage to earlier blocks that was noted before is dropped.
std::vector<Damage> take_damage_since(uint64_t serial);

/// Returns the freed blocks that are still kept to detect late accesses to the system.
void release_freed();

/// The live CPU block that `data` points into; if there is none, a block whose data is null.
Block block_of(const void* data);

/// Sets the name, such as "`x`", by which the report of a fault beside the block calls it.
void label(const void* data, const std::string& name);

}  // namespace guard

/// Sets a poison and a place; the destructor sets kFirstPoison and Place::heap again.
class GuardScope {
 public:
  explicit GuardScope(const Poison& poison, Place place = Place::heap) { guard::use(poison, place); }
  ~GuardScope() { guard::use(kFirstPoison, Place::heap); }
  GuardScope(const GuardScope&) = delete;
  GuardScope& operator=(const GuardScope&) = delete;
};

}  // namespace opgate
