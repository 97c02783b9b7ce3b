// How the tensors of one call lie in memory: what the text of its variant means.
#pragma once

#include <vector>

#include "call/call_key.h"
#include "call/slots.h"
#include "layouts/layout.h"

namespace opgate {

struct Placed {
  TensorSlot slot;
  Geometry geometry;  ///< in the storage that it shares, where it shares one
  View view = View::plain;
  size_t storage;  ///< which of the call's storages it lies in
  size_t values;   ///< the slot whose values it has: its own, or that of the tensor that it is the same as
};

/// One entry a slot, in schema order. Throws SetupError for a text that variants() does not offer.
std::vector<Placed> arrange(const CallKey& key);

/// The same sizes, and values, each tensor contiguous in a storage of its own.
std::vector<Placed> arrange_contiguous(const CallKey& key);

}  // namespace opgate
