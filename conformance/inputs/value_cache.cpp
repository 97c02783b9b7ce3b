#include "inputs/value_cache.h"

#include <ATen/ops/view_as_real.h>
#include <fmt/format.h>

#include "spec/spec.h"
#include "values/counter.h"
#include "values/domain.h"

namespace opgate {
namespace {

// The numbers of a recorded call stand for calls in other dtypes, too. Without imaginary parts, a kernel that
// forgets a conjugation would look right.
void add_imaginary_parts(const at::Tensor& values) {
  const at::Tensor parts = at::view_as_real(values);
  const at::Tensor real = parts.select(-1, 0);
  parts.select(-1, 1).copy_(real.flatten().roll(1).view(real.sizes()));
}

}  // namespace

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
  const at::Tensor& made = entries_.back().values;
  if (key.spec->draft && made.is_complex() && slot.described->domain.family == "literal")
    add_imaginary_parts(made);
  return made;
}

}  // namespace opgate
