#include "call/value_cache.h"

#include <fmt/format.h>

#include "values/counter.h"
#include "values/domain.h"

namespace opgate {

at::Tensor ValueCache::values(const CallKey& key, const TensorSlot& slot, at::IntArrayRef sizes,
                              uint64_t stream) {
  if (sample_ != key.sample) {
    entries_.clear();
    sample_ = key.sample;
  }
  const c10::ScalarType dtype = dtype_of(*slot.described, key);
  for (const Entry& entry : entries_) {
    if (entry.described == slot.described && entry.dtype == dtype && entry.stream == stream &&
        entry.values.sizes() == sizes)
      return entry.values;
  }
  std::string name = fmt::format("{}/{}/{}", key.spec->name, key.sample->name, slot.position);
  if (slot.element) name += fmt::format("[{}]", *slot.element);
  if (stream != 0) name += fmt::format("/{}", stream);
  entries_.push_back(
      {slot.described, dtype, stream, make_values(slot.described->domain, stream_key(name), sizes, dtype)});
  return entries_.back().values;
}

}  // namespace opgate
