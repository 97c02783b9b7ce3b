#include "inputs/bad_inputs.h"

#include <ATen/core/function_schema.h>
#include <ATen/core/jit_type.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "base/dtypes.h"
#include "base/tensors_in.h"
#include "inputs/empty_group.h"
#include "inputs/tensor_slots.h"
#include "spec/spec.h"

namespace opgate {
namespace {

using Kind = BadInput::Kind;
using How = InputDamage::Kind;
using Where = InputDamage::Place;

// A tensor that gets one dim more must not exceed this number of elements, unless the new dim has size 1.
constexpr int64_t kManyElements = int64_t{1} << 20;

// The new dim repeats the first size, and with_a_dim_less() merges the last two dims, so that trusted
// indices stay in range; for the same reason no size shrinks beside a trusted argument.
Shape with_a_dim_more(Shape shape) {
  int64_t count = 1;
  for (const int64_t size : shape) count *= size;
  const int64_t first =
      shape.empty() || count > kManyElements / std::max(shape.front(), int64_t{1}) ? 1 : shape.front();
  shape.insert(shape.begin(), first);
  return shape;
}

Shape with_a_dim_less(Shape shape) {
  const int64_t last = shape.back();
  shape.pop_back();
  if (!shape.empty()) shape.back() *= last;
  return shape;
}

// Predicates for BadInput::accepts_dtype, on the dtype of the call.
bool not_double(c10::ScalarType dtype) { return dtype != c10::kDouble; }
bool is_double(c10::ScalarType dtype) { return dtype == c10::kDouble; }
bool is_float_or_double(c10::ScalarType dtype) { return dtype == c10::kFloat || dtype == c10::kDouble; }
bool holds_any_index(c10::ScalarType dtype) { return dtype == c10::kInt || dtype == c10::kLong; }
bool holds_nan(c10::ScalarType dtype) { return c10::isFloatingType(dtype); }

// The first value above those that the tensor's domain can give; none if the domain has no upper bound or
// is not one of integers from 0 up.
std::optional<double> beyond_domain(const TensorArgument& tensor) {
  const auto& [family, parameters] = tensor.domain;
  const bool integral = tensor.dtype && c10::isIntegralType(*tensor.dtype, /*includeBool=*/false);
  if (family.ends_with("indices") && !parameters.empty()) return parameters.front();
  if (family == "offsets" && !parameters.empty()) return parameters.front() + 1;  // the last offset is n
  if (!integral || parameters.empty() || std::ranges::min(parameters) < 0) return std::nullopt;
  if (family == "uniform" || family == "literal") return std::floor(std::ranges::max(parameters)) + 1;
  return std::nullopt;
}

// The values that the domain of an integer tensor gives are between these; none if they are not known.
std::optional<std::pair<double, double>> range_of(const TensorArgument& tensor) {
  const auto& [family, parameters] = tensor.domain;
  if (parameters.empty()) return std::nullopt;
  if (family.ends_with("indices")) return std::pair(0.0, parameters.front() - 1);
  if (family == "offsets") return std::pair(0.0, parameters.front());
  if (family != "uniform" && family != "literal") return std::nullopt;
  return std::pair(std::floor(std::ranges::min(parameters)), std::floor(std::ranges::max(parameters)));
}

bool has_elements(const Argument& argument) {
  const auto* tensor = argument.tensor();
  return tensor != nullptr && std::ranges::find(tensor->shape, 0) == tensor->shape.end();
}

class DamagedTensors {
 public:
  DamagedTensors(const Spec& spec, const Sample& sample)
      : spec_(spec), sample_(sample), slots_(tensor_slots(spec, sample)) {}

  std::vector<BadInput> all() && {
    for (const TensorSlot& slot : slots_) {
      // Only the first and the last tensor of a list are damaged, because an operator treats those between
      // alike, except that one without elements has neighbours.
      const auto* list = sample_.arguments[slot.position].tensors();
      if (list != nullptr && *slot.element != 0 && *slot.element + 1 != list->size()) {
        if (*slot.element == list->size() / 2) emptied(slot);
        continue;
      }
      shapes(slot);
      dtypes(slot);
      if (slots_.size() > 1) {
        add(slot, Kind::device, {How::device, slot.name, "cpu"}, *slot.described);
      }
      if (!is_optional(slot)) add(slot, Kind::undefined, {How::undefined, slot.name}, *slot.described);
      const std::string name = argument_name(spec_, slot.position);
      if (!spec_.trusted.contains(name)) elements(slot);
      groups(slot);
      if (spec_.assumed_trusted.contains(name) && is_first_with_elements(slot.position)) assumed(slot);
    }
    return std::move(all_);
  }

 private:
  bool is_optional(const TensorSlot& slot) const {
    const c10::TypePtr& type = spec_.op->schema().arguments()[slot.position].type();
    return type->kind() == c10::TypeKind::OptionalType || is_list_of_optional_tensors(type);
  }

  void shapes(const TensorSlot& slot) {
    const Shape& shape = slot.described->shape;
    const auto reshaped = [&](How how, Shape other, size_t dim = 0) {
      TensorArgument tensor = *slot.described;
      tensor.shape = std::move(other);
      add(slot, Kind::shape, {.kind = how, .argument = slot.name, .dim = static_cast<int64_t>(dim)},
          std::move(tensor));
    };
    reshaped(How::more_dims, with_a_dim_more(shape));
    if (!shape.empty()) reshaped(How::fewer_dims, with_a_dim_less(shape));
    if (slots_.size() == 1) return;  // there is no other tensor that the size could disagree with
    for (size_t dim = 0; dim < shape.size(); ++dim) {
      Shape larger = shape;
      ++larger[dim];
      reshaped(How::longer, std::move(larger), dim);
      Shape smaller = shape;
      if (--smaller[dim] >= 0 && !others_are_trusted(slot)) reshaped(How::shorter, std::move(smaller), dim);
    }
    if (!shape.empty() && shape.front() >= 2) emptied(slot);
  }

  void emptied(const TensorSlot& slot) {
    TensorArgument tensor = *slot.described;
    if (tensor.shape.empty() || tensor.shape.front() == 0 || others_are_trusted(slot)) return;
    tensor.shape.front() = 0;
    add(slot, Kind::shape, {How::no_rows, slot.name}, std::move(tensor));
  }

  // For the first sample, whose values stay valid.
  void groups(const TensorSlot& slot) {
    if (spec_.samples.empty() || spec_.samples.front().name != sample_.name) return;
    for (const Where place : {Where::first, Where::middle, Where::last}) {
      if (!can_empty_group(spec_, sample_, *slot.described, place)) continue;
      add(slot, Kind::group, {.kind = How::group, .argument = slot.name, .place = place}, *slot.described);
    }
  }

  // Whether another tensor may hold indices into this one, for which callers answer: into a smaller one they
  // would be wrong.
  bool others_are_trusted(const TensorSlot& slot) const {
    return std::ranges::any_of(slots_, [&](const TensorSlot& other) {
      return other.position != slot.position && spec_.trusted.contains(argument_name(spec_, other.position));
    });
  }

  void dtypes(const TensorSlot& slot) {
    const auto& fixed = slot.described->dtype;
    const auto retyped = [&](c10::ScalarType dtype, bool (*accepts_dtype)(c10::ScalarType)) {
      const std::string name(dtype_name(dtype));
      TensorArgument tensor = slot.described->of(dtype);
      tensor.domain = {"uniform", {}};  // it suits any dtype, and keep_values() replaces the values
      add(slot, Kind::dtype, {How::dtype, slot.name, name}, std::move(tensor), accepts_dtype);
    };
    if (!fixed) {
      if (slots_.size() == 1) return;  // the check value.dtype tries other dtypes
      retyped(c10::kDouble, &not_double);
      retyped(c10::kFloat, &is_double);
      retyped(c10::kHalf, &is_float_or_double);
      retyped(c10::kInt, &is_float_or_double);
    } else if (c10::isIntegralType(*fixed, /*includeBool=*/false)) {
      retyped(c10::kFloat, nullptr);
      retyped(*fixed == c10::kLong ? c10::kInt : c10::kLong, nullptr);
    } else {
      retyped(*fixed == c10::kDouble ? c10::kFloat : c10::kDouble, nullptr);
    }
  }

  void elements(const TensorSlot& slot) {
    const Shape& shape = slot.described->shape;
    const std::optional<c10::ScalarType>& fixed = slot.described->dtype;
    if (std::ranges::find(shape, 0) != shape.end()) return;
    const auto beyond = beyond_domain(*slot.described);
    if (beyond) {
      out_of_domain(slot, *beyond);
    } else if (!fixed || c10::isFloatingType(*fixed)) {
      bool (*const accepts_dtype)(c10::ScalarType) = fixed ? nullptr : &holds_nan;
      element(slot, Kind::special, "-0", -0.0, accepts_dtype);
      if (spec_.unspecified_for.contains(std::string(kNan))) return;
      element(slot, Kind::special, "nan", NAN, accepts_dtype);
      element(slot, Kind::special, "inf", INFINITY, accepts_dtype);
      element(slot, Kind::special, "-inf", -INFINITY, accepts_dtype);
      for (const Where place : {Where::first, Where::last}) {
        element(slot, Kind::special, "nan", NAN, accepts_dtype, place);
      }
    }
  }

  void out_of_domain(const TensorSlot& slot, double beyond) {
    const auto& fixed = slot.described->dtype;
    if (fixed && !holds_any_index(*fixed)) return;  // another dtype may not hold a value out of range
    const auto accepts_dtype = fixed ? nullptr : &holds_any_index;
    const bool wide = fixed == c10::kLong;
    element(slot, Kind::index, "-1", -1, accepts_dtype);
    element(slot, Kind::index, fmt::format("{:.0f}", beyond), beyond, accepts_dtype);
    // For int64 one more than an int32 holds; for int32 its largest value.
    const double huge = wide ? 2147483648.0 : 2147483647.0;
    element(slot, Kind::index, fmt::format("{:.0f}", huge), huge, accepts_dtype);
  }

  bool is_first_with_elements(size_t position) const {
    const auto first = std::ranges::find_if(spec_.samples, [&](const Sample& sample) {
      return position < sample.arguments.size() && has_elements(sample.arguments[position]);
    });
    return first != spec_.samples.end() && first->name == sample_.name;
  }

  // The tensor may hold indices, and nothing says into what. So one element becomes negative, one more than
  // the largest recorded value, and each size of another tensor above it, and those of its first two dims
  // taken together.
  void assumed(const TensorSlot& slot) {
    constexpr size_t kMost = 6;
    const auto range = range_of(*slot.described);
    const auto& dtype = slot.described->dtype;
    if (!range || !dtype || !holds_any_index(*dtype)) return;
    std::set<double> beyond{range->second + 1};
    for (const TensorSlot& other : slots_) {
      if (other.position == slot.position) continue;
      const Shape& shape = other.described->shape;
      beyond.insert(shape.begin(), shape.end());
      if (shape.size() > 1) beyond.insert(static_cast<double>(shape[0] * shape[1]));
    }
    std::vector<double> values{std::min(-1.0, range->first - 1)};
    for (auto value = beyond.upper_bound(range->second); value != beyond.end() && values.size() < kMost;
         ++value)
      values.push_back(*value);
    for (const double value : values) {
      element(slot, Kind::index, fmt::format("{:.0f}", value), value, nullptr);
      all_.back().assumed = true;
    }
  }

  void element(const TensorSlot& slot, Kind kind, const std::string& text, double value,
               bool (*accepts_dtype)(c10::ScalarType), Where place = Where::middle) {
    add(slot, kind, {.kind = How::element, .argument = slot.name, .value = text, .place = place},
        *slot.described, accepts_dtype);
    all_.back().element = value;
  }

  void add(const TensorSlot& slot, Kind kind, InputDamage damage, TensorArgument tensor,
           bool (*accepts_dtype)(c10::ScalarType) = nullptr) {
    const Argument& argument = sample_.arguments[slot.position];
    Argument instead = argument;
    if (slot.element) {
      std::vector<TensorArgument> list = *argument.tensors();
      list[*slot.element] = std::move(tensor);
      instead = std::move(list);
    } else {
      instead = std::move(tensor);
    }
    all_.push_back({std::move(damage), kind, slot.position, std::move(instead), std::nullopt, accepts_dtype});
  }

  const Spec& spec_;
  const Sample& sample_;
  std::vector<TensorSlot> slots_;
  std::vector<BadInput> all_;
};

}  // namespace

std::vector<BadInput> bad_tensors(const Spec& spec, const Sample& sample) {
  return DamagedTensors(spec, sample).all();
}

}  // namespace opgate
