// How the tensors of one call lie in memory, as the text of its variant says.
#pragma once

#include <vector>

#include "inputs/call_key.h"
#include "inputs/tensor_slots.h"
#include "layouts/layout.h"

namespace opgate {

struct TensorPlacement {
  TensorSlot slot;
  Geometry geometry;  ///< in its storage, which other tensors may share
  View view = View::plain;
  size_t storage;  ///< tensors with the same number share a storage
  size_t values;   ///< index of the slot whose values it has: another than its own if both are one tensor
};

/// One entry for each slot, in schema order. Throws SetupError for a variant that variants() does not list.
std::vector<TensorPlacement> arrange(const CallKey& key);

/// Like arrange(), with the same sizes and values, but each tensor is contiguous in a storage of its own.
std::vector<TensorPlacement> arrange_contiguous(const CallKey& key);

}  // namespace opgate
