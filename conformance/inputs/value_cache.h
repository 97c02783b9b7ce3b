// The values of the current sample, generated once for all its layouts and checks.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "inputs/call_key.h"
#include "inputs/tensor_slots.h"

namespace opgate {

class ValueCache {
 public:
  /// Contiguous CPU values for the tensor at `slot` of the key's sample, with `sizes` instead of the
  /// sample's own. Each `value_seed` gives other values of the same domain; 0 gives the sample's. Callers
  /// must not write to them.
  at::Tensor values(const CallKey& key, const TensorSlot& slot, at::IntArrayRef sizes,
                    uint64_t value_seed = 0);

 private:
  struct Entry {
    const TensorArgument* described;
    c10::ScalarType dtype;
    uint64_t value_seed;
    at::Tensor values;
  };
  // The sample whose values are kept. One at a time is enough, because cases are sorted by sample.
  const Sample* sample_ = nullptr;
  std::vector<Entry> entries_;
};

}  // namespace opgate
