#include "inputs/larger_samples.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "inputs/tensor_slots.h"

namespace opgate {
namespace {

constexpr std::array<std::string_view, 4> kOfAnySize{"uniform", "positive", "indices", "sorted_indices"};

using Sizes = std::set<int64_t>;

template <class Change>
void for_each_shape(Sample& sample, const Change& change) {
  for (Argument& argument : sample.arguments) {
    if (const TensorArgument* tensor = argument.tensor()) {
      TensorArgument changed = *tensor;
      change(changed.shape);
      argument = std::move(changed);
    } else if (const auto* list = argument.tensors()) {
      std::vector<TensorArgument> changed = *list;
      for (TensorArgument& each : changed) change(each.shape);
      argument = std::move(changed);
    }
  }
}

Sample multiplied(const Sample& sample, const Sizes& sizes, int64_t factor) {
  Sample larger = sample;
  for_each_shape(larger, [&](Shape& shape) {
    for (int64_t& size : shape) {
      if (sizes.contains(size)) size *= factor;
    }
  });
  larger.name = fmt::format("{}, larger", sample.name);
  return larger;
}

int64_t elements_of(const Spec& spec, const Sample& sample) {
  int64_t elements = 0;
  for (const TensorSlot& slot : tensor_slots(spec, sample))
    elements += c10::multiply_integers(slot.described->shape);
  return elements;
}

bool takes_any_size(const Spec& spec, const Sample& sample) {
  const std::vector<TensorSlot> slots = tensor_slots(spec, sample);
  const bool values_fit = std::ranges::all_of(slots, [](const TensorSlot& slot) {
    return std::ranges::find(kOfAnySize, slot.described->domain.family) != kOfAnySize.end();
  });
  return values_fit && spec.trusted.empty();
}

// All sizes above 1.
Sizes sizes_of(const Spec& spec, const Sample& sample) {
  Sizes all;
  for (const TensorSlot& slot : tensor_slots(spec, sample)) {
    for (const int64_t size : slot.described->shape) {
      if (size > 1) all.insert(size);
    }
  }
  return all;
}

Sample with_size(const Sample& sample, int64_t size, int64_t wanted, bool only) {
  Sample changed = sample;
  for_each_shape(changed, [&](Shape& shape) {
    for (int64_t& each : shape) {
      if (each == size)
        each = wanted;
      else if (only)
        each = std::min<int64_t>(each, 1);
    }
  });
  changed.name = fmt::format("{}, with {} for {}", sample.name, wanted, size);
  return changed;
}

}  // namespace

std::vector<Sample> larger_samples(const Spec& spec, const Sample& sample, int64_t elements) {
  if (!takes_any_size(spec, sample)) return {};
  const Sizes all = sizes_of(spec, sample);
  if (elements_of(spec, sample) == 0) return {};  // it stays without elements, whatever the other sizes are
  std::vector<Sizes> choices;
  if (all.size() > 1) choices.push_back(all);
  for (const int64_t size : all) choices.push_back({size});
  std::vector<Sample> larger;
  for (const Sizes& sizes : choices) {
    int64_t factor = 1;
    while (factor < elements && elements_of(spec, multiplied(sample, sizes, factor * 2)) <= elements)
      factor *= 2;
    if (factor > 1) larger.push_back(multiplied(sample, sizes, factor));
  }
  return larger;
}

std::vector<Sample> samples_with_size(const Spec& spec, const Sample& sample, int64_t size,
                                      int64_t elements) {
  if (!takes_any_size(spec, sample) || elements_of(spec, sample) == 0) return {};
  std::vector<Sample> samples;
  for (const int64_t present : sizes_of(spec, sample)) {
    if (present >= size) continue;
    for (const bool only : {false, true}) {
      Sample changed = with_size(sample, present, size, only);
      if (elements_of(spec, changed) > elements) continue;
      samples.push_back(std::move(changed));
      break;
    }
  }
  return samples;
}

}  // namespace opgate
