#include "inputs/tensor_placement.h"

#include <algorithm>
#include <charconv>

#include "base/errors.h"
#include "spec/spec.h"

namespace opgate {
namespace {

Geometry dense(const Shape& sizes) { return geometry(sizes, dense_strides(sizes)); }

std::vector<TensorPlacement> plain(const CallKey& key) {
  std::vector<TensorPlacement> placed;
  for (TensorSlot& slot : tensor_slots(*key.spec, *key.sample)) {
    Geometry geometry = dense(slot.described->shape);
    const size_t index = placed.size();
    placed.push_back({std::move(slot), std::move(geometry), View::plain, index, index});
  }
  return placed;
}

// Returns false if the layout does not apply to these sizes, this dtype or this argument.
bool place(TensorPlacement& placed, std::string_view layout, const CallKey& key) {
  auto offered = find_placement(placed.slot.described->shape, layout);
  if (!offered) return false;
  const auto accepts_dtype = offered->layout->accepts_dtype;
  if (accepts_dtype != nullptr && !accepts_dtype(placed.slot.described->dtype.value_or(key.dtype)))
    return false;
  if (offered->placement.geometry.overlaps() && !can_overlap(*key.spec, placed.slot)) return false;
  placed.geometry = std::move(offered->placement.geometry);
  placed.view = offered->placement.view;
  return true;
}

// Places the second tensor after the first in one storage.
void put_together(TensorPlacement& one, TensorPlacement& other) {
  other.geometry.offset = one.geometry.elements;
  other.geometry.elements += one.geometry.elements;
  one.geometry.elements = other.geometry.elements;
  other.storage = one.storage;
}

void make_same(const TensorPlacement& one, TensorPlacement& other) {
  other.geometry = one.geometry;
  other.storage = one.storage;
  other.values = one.values;
}

void empty_size(std::vector<TensorPlacement>& all, int64_t size) {
  for (TensorPlacement& placed : all) {
    std::vector<int64_t> sizes = placed.geometry.sizes;
    std::ranges::replace(sizes, size, int64_t{0});
    placed.geometry = dense(sizes);
  }
}

}  // namespace

std::vector<TensorPlacement> arrange(const CallKey& key) {
  std::vector<TensorPlacement> all = plain(key);
  if (key.is_contiguous()) return all;
  const std::string_view text = key.variant;
  const auto unknown = [&] {
    return setup_error("'{}' is no variant of sample {} of {}", text, key.sample->name, key.spec->id);
  };
  const auto find = [&](std::string_view name) -> TensorPlacement& {
    const auto found =
        std::ranges::find_if(all, [&](const TensorPlacement& p) { return p.slot.name == name; });
    if (found == all.end()) throw unknown();
    return *found;
  };
  const auto equals = text.rfind('=');
  if (equals == std::string_view::npos) throw unknown();
  const std::string_view subject = text.substr(0, equals);
  const std::string_view how = text.substr(equals + 1);
  const auto plus = subject.find('+');
  if (plus != std::string_view::npos) {
    TensorPlacement& one = find(subject.substr(0, plus));
    TensorPlacement& other = find(subject.substr(plus + 1));
    how == "same" ? make_same(one, other) : put_together(one, other);
  } else if (how == "0") {
    int64_t size = 0;
    std::from_chars(subject.data() + std::string_view("size").size(), subject.data() + subject.size(), size);
    empty_size(all, size);
  } else if (subject == "all") {  // tensors that the layout does not apply to stay contiguous
    for (TensorPlacement& placed : all) place(placed, how, key);
  } else if (!place(find(subject), how, key)) {
    throw unknown();
  }
  return all;
}

std::vector<TensorPlacement> arrange_contiguous(const CallKey& key) {
  std::vector<TensorPlacement> all = arrange(key);
  for (size_t i = 0; i < all.size(); ++i) {
    all[i].geometry = dense(all[i].geometry.sizes);
    all[i].view = View::plain;
    all[i].storage = i;
  }
  return all;
}

}  // namespace opgate
