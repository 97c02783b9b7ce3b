#include "call/bad_tensors.h"

#include <ATen/core/function_schema.h>
#include <ATen/core/jit_type.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/dtypes.h"
#include "call/slots.h"

namespace opgate {
namespace {

using Kind = BadInput::Kind;

// A tensor with a dim more is not to be much larger than the sample.
constexpr int64_t kManyElements = int64_t{1} << 20;

// Sizes that are kept lest a trusted index leaves its domain: a dim more repeats the first one, a dim less
// folds the last two into one.
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

// The dtypes of a tensor whose dtype is swept, told from the one that the damage gives it.
bool not_double(c10::ScalarType dtype) { return dtype != c10::kDouble; }
bool is_double(c10::ScalarType dtype) { return dtype == c10::kDouble; }
bool holds_any_index(c10::ScalarType dtype) { return dtype == c10::kInt || dtype == c10::kLong; }
bool holds_nan(c10::ScalarType dtype) { return c10::isFloatingType(dtype); }

// The first value past those that an integer tensor can have; none where it is drawn from all there are.
std::optional<double> beyond_domain(const TensorArgument& tensor) {
  const auto& [family, parameters] = tensor.domain;
  const bool integral = tensor.dtype && c10::isIntegralType(*tensor.dtype, /*includeBool=*/false);
  if (family.ends_with("indices") && !parameters.empty()) return parameters.front();
  if (family == "offsets" && !parameters.empty()) return parameters.front() + 1;  // the last one is the end
  if (!integral || parameters.empty() || std::ranges::min(parameters) < 0) return std::nullopt;
  if (family == "uniform" || family == "literal") return std::floor(std::ranges::max(parameters)) + 1;
  return std::nullopt;
}

class DamagedTensors {
 public:
  DamagedTensors(const Spec& spec, const Sample& sample)
      : spec_(spec), sample_(sample), slots_(tensor_slots(spec, sample)) {}

  std::vector<BadInput> all() && {
    for (const TensorSlot& slot : slots_) {
      // Of a list, the first and the last tensor: those between are treated as they are.
      const auto* list = sample_.arguments[slot.position].tensors();
      if (list != nullptr && *slot.element != 0 && *slot.element + 1 != list->size()) continue;
      shapes(slot);
      dtypes(slot);
      if (slots_.size() > 1) {
        add(slot, Kind::device, ".device=cpu", "cpu", *slot.described);
      }
      if (!is_optional(slot)) add(slot, Kind::undefined, ".undefined", "undefined", *slot.described);
      if (!spec_.trusted.contains(argument_name(spec_, slot.position))) elements(slot);
    }
    return std::move(all_);
  }

 private:
  bool is_optional(const TensorSlot& slot) const {
    return spec_.op->schema().arguments()[slot.position].type()->kind() == c10::TypeKind::OptionalType;
  }

  void shapes(const TensorSlot& slot) {
    const Shape& shape = slot.described->shape;
    const auto reshaped = [&](const std::string& how, Shape other) {
      TensorArgument tensor = *slot.described;
      tensor.shape = std::move(other);
      add(slot, Kind::shape, how, "", std::move(tensor));
    };
    reshaped(".rank+1", with_a_dim_more(shape));
    if (!shape.empty()) reshaped(".rank-1", with_a_dim_less(shape));
    if (slots_.size() == 1) return;  // nothing that the size could be at odds with
    for (size_t dim = 0; dim < shape.size(); ++dim) {
      Shape larger = shape;
      ++larger[dim];
      reshaped(fmt::format(".size{}+1", dim), std::move(larger));
    }
  }

  void dtypes(const TensorSlot& slot) {
    const auto& fixed = slot.described->dtype;
    const auto retyped = [&](c10::ScalarType dtype, bool (*suits)(c10::ScalarType)) {
      const std::string name(dtype_name(dtype));
      TensorArgument tensor = slot.described->of(dtype);
      tensor.domain = {"uniform", {}};  // of any dtype, as indices are not; it gets the sample's values
      add(slot, Kind::dtype, ".dtype=" + name, name, std::move(tensor), suits);
    };
    if (!fixed) {
      if (slots_.size() == 1) return;  // value.dtype's
      retyped(c10::kDouble, &not_double);
      retyped(c10::kFloat, &is_double);
    } else if (c10::isIntegralType(*fixed, /*includeBool=*/false)) {
      retyped(c10::kFloat, nullptr);
      retyped(*fixed == c10::kLong ? c10::kInt : c10::kLong, nullptr);
    } else {
      retyped(*fixed == c10::kDouble ? c10::kFloat : c10::kDouble, nullptr);
    }
  }

  void elements(const TensorSlot& slot) {
    const auto& [shape, domain, fixed] = *slot.described;
    if (std::ranges::find(shape, 0) != shape.end()) return;
    const auto beyond = beyond_domain(*slot.described);
    if (beyond) {
      out_of_domain(slot, *beyond);
    } else if (!fixed || c10::isFloatingType(*fixed)) {
      element(slot, Kind::special, "nan", NAN, fixed ? nullptr : &holds_nan);
      element(slot, Kind::special, "inf", INFINITY, fixed ? nullptr : &holds_nan);
    }
  }

  void out_of_domain(const TensorSlot& slot, double beyond) {
    const auto& fixed = slot.described->dtype;
    if (fixed && !holds_any_index(*fixed)) return;  // what is out of range may not be representable
    const auto suits = fixed ? nullptr : &holds_any_index;
    const bool wide = fixed == c10::kLong;
    element(slot, Kind::index, "-1", -1, suits);
    element(slot, Kind::index, fmt::format("{:.0f}", beyond), beyond, suits);
    // One more than an int holds; where it is one, the largest.
    const double huge = wide ? 2147483648.0 : 2147483647.0;
    element(slot, Kind::index, fmt::format("{:.0f}", huge), huge, suits);
  }

  void element(const TensorSlot& slot, Kind kind, const std::string& text, double value,
               bool (*suits)(c10::ScalarType)) {
    add(slot, kind, ".value=" + text, text, *slot.described, suits);
    all_.back().element = value;
  }

  void add(const TensorSlot& slot, Kind kind, const std::string& how, std::string given,
           TensorArgument tensor, bool (*suits)(c10::ScalarType) = nullptr) {
    const Argument& argument = sample_.arguments[slot.position];
    Argument instead = argument;
    if (slot.element) {
      std::vector<TensorArgument> list = *argument.tensors();
      list[*slot.element] = std::move(tensor);
      instead = std::move(list);
    } else {
      instead = std::move(tensor);
    }
    all_.push_back({slot.name + how, kind, slot.name, std::move(given), slot.position, std::move(instead),
                    std::nullopt, suits});
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
