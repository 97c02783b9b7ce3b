// The barrier objects of `mbarrier`, which lie in shared memory.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "machine/copy_queue.h"
#include "machine/memory/shared_place.h"
#include "ptx/types.h"

namespace opgate::simulator {

class Block;
class Thread;
struct Instruction;

/// What an object of 8 bytes holds. PTX leaves open how; here all of it is in the object, so that a kernel
/// which overwrites it or has not initialized it is found.
struct MBarrier {
  static constexpr std::uint32_t kMostCount = (1u << 20) - 1;

  std::uint32_t expected = 0;  ///< arrivals of each phase
  std::uint32_t pending = 0;   ///< arrivals that the phase still waits for
  std::int32_t bytes =
      0;  ///< of copies that the phase waits for; negative where they came before they were announced
  bool phase = false;  ///< changes when a phase is complete

  std::uint64_t packed() const;
  /// False if the bits are not those of an object.
  bool unpack(std::uint64_t bits);

  /// The phase is complete when nothing is missing: then the next one begins.
  void complete_if_nothing_is_missing();
};

/// Reads and writes the object. Throws KernelFault for one that has not been initialized.
MBarrier read_mbarrier(const SharedPlace& place, const Instruction& in);
void write_mbarrier(const SharedPlace& place, const MBarrier& barrier);

/// Counts arrivals. Throws KernelFault if the phase does not expect so many.
void arrive(MBarrier& barrier, std::uint32_t count, const Instruction& in);
/// Adds to the bytes that the phase waits for. Throws KernelFault if an object cannot count so many.
void expect_bytes(MBarrier& barrier, std::int64_t bytes, const Instruction& in);

/// Where the object of the operand lies, which takes one slot: the offset of the address is given.
template <Space space>
SharedPlace place_of_mbarrier(Thread& thread, const Instruction& in, std::uint64_t address);

/// What happens to an object when copies are complete.
struct Promise {
  SharedPlace place;
  /// Where a thread has asked for an arrival: the thread, and how many of its copies come first.
  Thread* thread = nullptr;
  std::uint64_t count = 0;
  /// Otherwise: bytes that arrive all at once.
  std::vector<Copy> copies;
  std::uint32_t bytes = 0;
  std::vector<unsigned char> values = {};  ///< that the copies read, if they do not read memory
};

/// The promises of a block. They are kept when a thread has looked at the object and found its phase
/// incomplete, so that a kernel which looks once and goes on finds what was there before.
class Promises {
 public:
  void add(Promise promise) { pending_.push_back(std::move(promise)); }
  void keep(const SharedPlace& place, const Instruction& in);
  void reset() { pending_.clear(); }

 private:
  std::vector<Promise> pending_;
};

}  // namespace opgate::simulator
