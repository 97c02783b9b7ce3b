#include "machine/memory/memory.h"

namespace opgate::simulator {

void report_misaligned(const Instruction& in, std::uint64_t address, std::size_t bytes) {
  fail(in, Fault::misaligned_address,
       " of " + std::to_string(bytes) + " bytes at " + hexadecimal(address) +
           ", which is not a multiple of " + std::to_string(bytes));
}

SharedPlace place_in_shared(Thread& thread, const Instruction& in, std::uint64_t address, std::size_t bytes) {
  SharedPlace place{thread.block, static_cast<std::uint32_t>(address)};
  const Cluster& cluster = thread.block->cluster();
  const std::size_t rank = place.offset >> kRankAt;
  // In a cluster of one block, any other address of 16 MiB and more is a wrong one of that block.
  if (rank == 1 || (rank != 0 && cluster.size() > 1)) {
    place.block = cluster.block(rank - 1);
    place.offset &= kOffsetInBlock;
  }
  if (place.block == nullptr)
    fail(in, Fault::trap,
         " in the shared memory of block " + std::to_string(rank - 1) + " of a cluster of " +
             std::to_string(cluster.size()) + (rank > cluster.size() ? "" : ", which has ended"));
  if (place.offset + bytes > place.block->shared_bytes())
    report_outside(in, Space::shared, place.offset, bytes, place.block->shared_bytes());
  return place;
}

void report_outside(const Instruction& in, Space space, std::uint64_t address, std::size_t bytes,
                    std::size_t size) {
  const char* const name = space == Space::shared  ? "shared memory"
                           : space == Space::local ? "local memory of the thread"
                                                   : "parameters";
  std::string why = size == 0 && space == Space::parameter
                        ? ", which cannot be written"
                        : ", of which there are " + std::to_string(size) + " bytes";
  fail(in, Fault::trap,
       " of " + std::to_string(bytes) + " bytes at " + hexadecimal(address) + " of the " + name + why);
}

}  // namespace opgate::simulator
