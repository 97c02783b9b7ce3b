// The operations of cp.reduce.async.bulk.
#pragma once

#include <cstddef>
#include <optional>

#include "machine/copy_queue.h"
#include "numbers/atomic_operations.h"
#include "ptx/draft.h"
#include "ptx/modifiers.h"
#include "ptx/types.h"

namespace opgate::simulator {

/// The operation that the opcode names, if it is one of reductions in bulk.
std::optional<AtomicOperation> take_bulk_operation(Modifiers& modifiers);

/// The number of a reduction, from 1 on; none if PTX has no such one, for shared or for global memory.
std::optional<std::size_t> bulk_reduction(AtomicOperation operation, Type type, bool in_shared);

/// Takes the operation and its type from the opcode, and makes the number of the reduction the immediate of
/// the instruction. False if there is no such reduction.
bool take_bulk_reduction(Draft& draft, bool in_shared);

/// What the reduction of a number does. Null for 0: a copy.
Combine combine_of_bulk_reduction(std::size_t number);

}  // namespace opgate::simulator
