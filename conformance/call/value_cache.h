// The values of the sample at hand, generated once for all its layouts and checks.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "call/call_key.h"

namespace opgate {

class ValueCache {
 public:
  /// Contiguous CPU values of the sample's argument at `position`, with `sizes` in place of the sample's own.
  /// Not to be written to.
  at::Tensor values(const CallKey& key, size_t position, at::IntArrayRef sizes);

 private:
  struct Entry {
    size_t position;
    c10::ScalarType dtype;
    at::Tensor values;
  };
  const Sample* sample_ =
      nullptr;  // whose values are kept: cases come sorted, so one sample at a time is enough
  std::vector<Entry> entries_;
};

}  // namespace opgate
