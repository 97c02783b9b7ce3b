// The values of the sample at hand, generated once for all its layouts and checks.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "call/call_key.h"
#include "call/slots.h"

namespace opgate {

class ValueCache {
 public:
  /// Contiguous CPU values for the tensor at `slot` of the key's sample, with `sizes` in place of the
  /// sample's own; other values of the same domain where `stream` is not 0. Not to be written to.
  at::Tensor values(const CallKey& key, const TensorSlot& slot, at::IntArrayRef sizes, uint64_t stream = 0);

 private:
  struct Entry {
    const TensorArgument* described;
    c10::ScalarType dtype;
    uint64_t stream;
    at::Tensor values;
  };
  const Sample* sample_ =
      nullptr;  // whose values are kept: cases come sorted, so one sample at a time is enough
  std::vector<Entry> entries_;
};

}  // namespace opgate
