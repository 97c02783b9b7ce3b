#include "inputs/variant.h"

#include <ATen/core/function_schema.h>
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "inputs/bad_inputs.h"
#include "inputs/tensor_slots.h"
#include "inputs/variant_text.h"
#include "spec/schema/function_name.h"
#include "spec/spec.h"

namespace opgate {
namespace {

bool writes_something(const Spec& spec) { return spec.op && spec.op->schema().is_mutable(); }

// Tensors that are written to must not overlap themselves, and PyTorch raises for some mutable signatures
// if an argument is a lazy view.
bool possible(const Spec& spec, const TensorSlot& slot, const Placement& placement) {
  if (placement.view != View::plain && writes_something(spec)) return false;
  if (!is_tried(placement.view, spec)) return false;
  return !placement.geometry.overlaps() || can_overlap(spec, slot);
}

// Whether the sample fixes a dtype that the layout does not apply to.
bool never_accepts(const Layout& layout, const TensorSlot& slot) {
  return layout.accepts_dtype != nullptr && slot.described->dtype &&
         !layout.accepts_dtype(*slot.described->dtype);
}

class VariantEnumerator {
 public:
  VariantEnumerator(const Spec& spec, const Sample& sample)
      : spec_(spec), sample_(sample), slots_(tensor_slots(spec, sample)) {}

  std::vector<Variant> all() && {
    for (const TensorSlot& slot : slots_) one_laid_out(slot);
    if (slots_.size() > 1) {
      all_laid_out_alike();
      for (size_t i = 1; i < slots_.size(); ++i) share(slots_[i - 1], slots_[i]);
      without_a_size();
    }
    for (const BadInput& bad : bad_inputs(spec_, sample_)) {
      add({variant_of(bad.damage), Variant::Kind::bad, false, bad.accepts_dtype,
           /*mixes_devices=*/bad.kind == BadInput::Kind::device});
    }
    return std::move(variants_);
  }

 private:
  void one_laid_out(const TensorSlot& slot) {
    for (const auto& [layout, placement] : placements(slot.described->shape)) {
      if (placement.name == kContiguous || !possible(spec_, slot, placement)) continue;
      if (!layout->same_sizes && (slots_.size() > 1 || is_fixed(slot))) continue;
      if (never_accepts(*layout, slot)) continue;
      add({fmt::format("{}={}", slot.name, placement.name),
           layout->same_sizes ? Variant::Kind::rearranged : Variant::Kind::resized, layout->packaged,
           slot.described->dtype ? nullptr : layout->accepts_dtype});
    }
  }

  void all_laid_out_alike() {
    for (const Layout& layout : Registry<Layout>::instance().parts()) {
      if (layout.name == kContiguous || !layout.same_sizes) continue;
      const auto takes = [&](const TensorSlot& slot) {
        if (never_accepts(layout, slot)) return false;
        std::vector<Placement> offered;
        layout.offer(slot.described->shape, offered);
        return std::ranges::any_of(offered, [&](const Placement& p) { return possible(spec_, slot, p); });
      };
      if (std::ranges::count_if(slots_, takes) < 2) continue;
      add({fmt::format("all={}", layout.name), Variant::Kind::rearranged, layout.packaged,
           layout.accepts_dtype});
    }
  }

  void share(const TensorSlot& one, const TensorSlot& other) {
    if (one.described->dtype != other.described->dtype) return;
    const auto empty = [](const TensorSlot& slot) {
      return std::ranges::find(slot.described->shape, 0) != slot.described->shape.end();
    };
    if (empty(one) || empty(other)) return;
    add({fmt::format("{}+{}=together", one.name, other.name), Variant::Kind::rearranged});
    if (one.described->shape != other.described->shape || one.described->domain != other.described->domain)
      return;
    if (is_mutable(spec_, one.position) || is_mutable(spec_, other.position)) return;
    add({fmt::format("{}+{}=same", one.name, other.name), Variant::Kind::rearranged});
  }

  // Each size in turn becomes 0 wherever it occurs, so that the arguments still fit each other.
  void without_a_size() {
    std::set<int64_t> sizes;
    for (const TensorSlot& slot : slots_)
      sizes.insert(slot.described->shape.begin(), slot.described->shape.end());
    for (const int64_t size : sizes) {
      if (size == 0) continue;
      // Trusted indices, which the operator need not check, cannot be valid if what they point into becomes
      // empty.
      const bool misled = std::ranges::any_of(slots_, [&](const TensorSlot& slot) {
        const Shape& shape = slot.described->shape;
        const bool resized = std::ranges::find(shape, size) != shape.end();
        if (resized) return is_fixed(slot);
        return is_trusted(slot) && std::ranges::find(shape, 0) == shape.end();
      });
      if (!misled) add({fmt::format("size{}=0", size), Variant::Kind::resized});
    }
  }

  bool is_trusted(const TensorSlot& slot) const {
    return spec_.trusted.contains(argument_name(spec_, slot.position));
  }
  // Offsets of a recording have as many elements as there are rows, and one more: their number may mean
  // something.
  bool is_fixed(const TensorSlot& slot) const { return spec_.draft && is_trusted(slot); }

  void add(Variant variant) { variants_.push_back(std::move(variant)); }

  const Spec& spec_;
  const Sample& sample_;
  std::vector<TensorSlot> slots_;
  std::vector<Variant> variants_{{std::string(kContiguous), Variant::Kind::contiguous, true}};
};

}  // namespace

bool is_tried(View view, const Spec& spec) { return view != View::negated || !is_function(spec.name); }

std::vector<Variant> variants(const Spec& spec, const Sample& sample) {
  if (spec.kind != Spec::Kind::op) return {{std::string(kContiguous), Variant::Kind::contiguous, true}};
  if (spec.find_rejection(sample) != nullptr) return {{std::string(kContiguous), Variant::Kind::bad}};
  return VariantEnumerator(spec, sample).all();
}

std::string_view varied_argument(std::string_view text) {
  if (is_bad_input(text)) return {};
  const auto equals = text.rfind('=');
  if (equals == std::string_view::npos) return {};
  const std::string_view subject = text.substr(0, equals);
  const bool one =
      subject != "all" && subject.find('+') == std::string_view::npos && text.substr(equals) != "=0";
  return one ? subject : std::string_view();
}

std::string describe_variant(std::string_view text) {
  if (const std::optional<InputDamage> damage = damage_of(text)) return in_words(*damage);
  const auto equals = text.rfind('=');
  if (equals == std::string_view::npos) return "every argument is contiguous";
  const std::string_view subject = text.substr(0, equals);
  const std::string_view how = text.substr(equals + 1);
  if (const std::string_view size = sizes_without_elements(text); !size.empty())
    return fmt::format("every dim of size {} is empty", size);
  if (subject == "all") return fmt::format("every argument is {}", how);
  const auto plus = subject.find('+');
  if (plus == std::string_view::npos) return fmt::format("`{}` is {}", subject, how);
  return fmt::format("`{}` and `{}` {}", subject.substr(0, plus), subject.substr(plus + 1),
                     how == "same" ? "are the same tensor" : "lie in one storage");
}

}  // namespace opgate
