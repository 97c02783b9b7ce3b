// What the tools must know of copies by maps of tensors.
#pragma once

#include <cstdint>
#include <vector>

#include "machine/memory/tensor_map.h"
#include "machine/thread.h"

namespace opgate::simulator {

/// The pieces that `cp.async.bulk.tensor` copies, to shared memory or from it.
std::vector<TensorPiece> pieces_of_tensor_copy(Thread& thread, const Instruction& in, bool is_load);

/// The address of the `mbarrier` of a copy to shared memory.
std::uint64_t mbarrier_of_tensor_copy(const Thread& thread, const Instruction& in);

}  // namespace opgate::simulator
