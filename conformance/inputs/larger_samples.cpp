#include "inputs/larger_samples.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "inputs/tensor_slots.h"
#include "spec/spec.h"

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

// In double, because a size that occurs in several dims may be multiplied beyond 64 bits.
double elements_of(const Spec& spec, const Sample& sample) {
  double elements = 0;
  for (const TensorSlot& slot : tensor_slots(spec, sample)) {
    double of_tensor = 1;
    for (const int64_t size : slot.described->shape) of_tensor *= static_cast<double>(size);
    elements += of_tensor;
  }
  return elements;
}

// Whether numbers of a recorded tensor are values and nothing else, so that they may be repeated in a tensor
// of other sizes. A whole number may be an index or a count, which fits one size; so may a number between 1
// and a size be a coordinate, if none is negative. A number of 0 fits any size.
bool are_values_alone(const std::vector<double>& numbers) {
  if (numbers.empty()) return false;
  if (std::ranges::all_of(numbers, [](double number) { return number == 1; })) return true;
  const auto [least, largest] = std::ranges::minmax(numbers);
  const bool are_coordinates = least >= 0 && largest > 1;
  return !are_coordinates && std::ranges::all_of(numbers, [](double number) {
    return std::isfinite(number) && (number == 0 || std::trunc(number) != number);
  });
}

// A tensor without a dtype of its own has that of the case, which is one that was recorded.
bool is_floating(const Spec& spec, const TensorArgument& tensor) {
  if (tensor.dtype) return c10::isFloatingType(*tensor.dtype);
  return std::ranges::all_of(spec.dtypes, [](const auto& of_device) {
    return std::ranges::all_of(of_device.second,
                               [](c10::ScalarType dtype) { return c10::isFloatingType(dtype); });
  });
}

// A literal repeats its numbers where the tensor has more elements.
bool is_recorded_value(const Spec& spec, const TensorArgument& tensor) {
  return spec.draft && tensor.domain.family == "literal" && is_floating(spec, tensor) &&
         are_values_alone(tensor.domain.parameters);
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

bool takes_any_size(const Spec& spec, const Sample& sample) {
  const std::vector<TensorSlot> slots = tensor_slots(spec, sample);
  const bool values_fit = std::ranges::all_of(slots, [&](const TensorSlot& slot) {
    return std::ranges::find(kOfAnySize, slot.described->domain.family) != kOfAnySize.end() ||
           is_recorded_value(spec, *slot.described);
  });
  return values_fit && spec.trusted.empty();
}

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

std::map<int64_t, Sample> samples_with_size(const Spec& spec, const Sample& sample, int64_t size,
                                            int64_t elements) {
  if (!takes_any_size(spec, sample) || elements_of(spec, sample) == 0) return {};
  std::map<int64_t, Sample> samples;
  for (const int64_t present : sizes_of(spec, sample)) {
    if (present >= size) continue;
    for (const bool only : {false, true}) {
      Sample changed = with_size(sample, present, size, only);
      if (elements_of(spec, changed) > elements) continue;
      samples.emplace(present, std::move(changed));
      break;
    }
  }
  return samples;
}

}  // namespace opgate
