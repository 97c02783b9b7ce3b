#include "inputs/empty_group.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "inputs/tensor_slots.h"
#include "spec/spec.h"

namespace opgate {
namespace {

// Offsets, as a spec describes them, or numbers of a recording that have been found to be some.
bool are_offsets(const TensorArgument& tensor) {
  return tensor.domain.family == "offsets" || tensor.domain.family == "literal";
}

int64_t group_at(InputDamage::Place place, int64_t groups) {
  return place == InputDamage::Place::first ? 0 : place == InputDamage::Place::last ? groups - 1 : groups / 2;
}

// The boundaries with segment `group` empty: its elements belong to the segment after it, or to that before
// the last one.
template <class T>
void empty_segment(std::vector<T>& boundaries, size_t group) {
  if (group + 2 < boundaries.size())
    boundaries[group + 1] = boundaries[group];
  else
    boundaries[group] = boundaries[group + 1];
}

double longest_segment(const std::vector<double>& boundaries) {
  double longest = 0;
  for (size_t i = 1; i < boundaries.size(); ++i)
    longest = std::max(longest, boundaries[i] - boundaries[i - 1]);
  return longest;
}

// From 0 up to the size of another tensor, as the boundaries of segments of its rows are. Numbers that add up
// to such a size may be lengths, and those that ascend by 1 may be a permutation.
bool look_like_offsets(const Spec& spec, const Sample& sample, const TensorArgument& tensor) {
  const std::vector<double>& numbers = tensor.domain.parameters;
  if (!tensor.dtype || !c10::isIntegralType(*tensor.dtype, /*includeBool=*/false)) return false;
  if (static_cast<size_t>(c10::multiply_integers(tensor.shape)) != numbers.size()) return false;
  if (numbers.front() != 0 || !std::ranges::is_sorted(numbers)) return false;
  const bool ascend_by_one =
      numbers.back() == static_cast<double>(numbers.size() - 1) && longest_segment(numbers) == 1;
  const double sum = std::accumulate(numbers.begin(), numbers.end(), 0.0);
  std::set<double> rows;
  for (const TensorSlot& slot : tensor_slots(spec, sample)) {
    const Shape& shape = slot.described->shape;
    if (slot.described != &tensor && !shape.empty()) rows.insert(static_cast<double>(shape.front()));
  }
  return rows.contains(numbers.back()) && !rows.contains(sum) && !ascend_by_one;
}

// Whether an integer argument, such as a largest length, lies between what the longest segment was and is.
bool is_limited(const Sample& sample, double before, double after) {
  return std::ranges::any_of(sample.arguments, [&](const Argument& argument) {
    const c10::IValue* const value = argument.other();
    if (value == nullptr || !value->isInt()) return false;
    const auto number = static_cast<double>(value->toInt());
    return number >= before && number < after;
  });
}

}  // namespace

bool can_empty_group(const Spec& spec, const Sample& sample, const TensorArgument& tensor,
                     InputDamage::Place place) {
  const auto& [family, parameters] = tensor.domain;
  if (std::ranges::find(tensor.shape, 0) != tensor.shape.end()) return false;
  if (family == "literal") {
    if (!spec.draft || tensor.shape.size() != 1 || parameters.size() < 3) return false;
    if (!look_like_offsets(spec, sample, tensor)) return false;
    std::vector<double> changed = parameters;
    empty_segment(changed, group_at(place, std::ssize(changed) - 1));
    return !is_limited(sample, longest_segment(parameters), longest_segment(changed));
  }
  if (spec.draft) return false;
  if (family == "offsets") return tensor.shape.size() == 1 && tensor.shape.front() >= 3;
  return family.ends_with("indices") && !parameters.empty() && parameters.front() >= 2;
}

void empty_group(const TensorArgument& described, at::Tensor& tensor, InputDamage::Place place) {
  if (are_offsets(described)) {
    const at::Tensor numbers = tensor.cpu().to(at::kLong).contiguous();
    const auto* const first = numbers.const_data_ptr<int64_t>();
    std::vector<int64_t> boundaries(first, first + numbers.numel());
    empty_segment(boundaries, group_at(place, std::ssize(boundaries) - 1));
    tensor.copy_(at::tensor(boundaries, at::kLong));
    return;
  }
  const auto groups = static_cast<int64_t>(described.domain.parameters.front());
  const int64_t group = group_at(place, groups);
  // The neighbour, so that sorted indices stay sorted.
  tensor.masked_fill_(tensor.eq(group), group + 1 < groups ? group + 1 : group - 1);
}

}  // namespace opgate
