#include "inputs/value_cache.h"

#include <fmt/format.h>

#include "spec/spec.h"
#include "values/counter.h"
#include "values/domain.h"

namespace opgate {

at::Tensor ValueCache::values(const CallKey& key, const TensorSlot& slot, at::IntArrayRef sizes,
                              uint64_t value_seed) {
  if (sample_ != key.sample) {
    entries_.clear();
    sample_ = key.sample;
  }
  const c10::ScalarType dtype = dtype_of(*slot.described, key);
  for (const Entry& entry : entries_) {
    if (entry.described == slot.described && entry.dtype == dtype && entry.value_seed == value_seed &&
        entry.values.sizes() == sizes)
      return entry.values;
  }
  std::string name = fmt::format("{}/{}/{}", key.spec->name, value_name(*key.sample), slot.position);
  if (slot.element) name += fmt::format("[{}]", *slot.element);
  if (value_seed != 0) name += fmt::format("/{}", value_seed);
  entries_.push_back({slot.described, dtype, value_seed,
                      make_values(slot.described->domain, stream_key(name), sizes, dtype)});
  return entries_.back().values;
}

}  // namespace opgate
