// The operands of cp.async.bulk and cp.reduce.async.bulk without a map of a tensor.
#pragma once

#include <cstdint>

#include "machine/thread.h"

namespace opgate::simulator {

struct BulkOperands {
  std::uint64_t to = 0;
  std::uint64_t from = 0;
  std::uint32_t bytes = 0;
  std::uint64_t mbarrier = 0;  ///< 0 if the copy has none, because its thread waits for it
};

BulkOperands bulk_operands(const Thread& thread, const Instruction& in, bool has_mbarrier);

/// PTX does not say so, but cards do: values that are sent into shared memory need a cluster, even if it has
/// only one block.
void require_cluster(const Thread& thread, const Instruction& in);

/// Visits the ranks of the blocks to which a copy with `.multicast::cluster` goes: those whose bits are set
/// in the lowest 16 of the mask.
template <class Visit>
void for_each_rank(std::uint64_t mask, Visit visit) {
  for (std::size_t rank = 0; rank < 16; ++rank) {
    if ((mask >> rank & 1) != 0) visit(rank);
  }
}

}  // namespace opgate::simulator
