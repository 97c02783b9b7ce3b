#include "judging/scope.h"

#include <algorithm>

#include "compare/float_format.h"
#include "inputs/tensor_slots.h"
#include "judging/comparison/cpu_kernel.h"
#include "spec/schema/function_name.h"
#include "spec/spec.h"
#include "spec/specs.h"
#include "values/domain.h"

namespace opgate {
namespace {

bool of_kind(const Scope& scope, Spec::Kind kind) {
  switch (kind) {
    case Spec::Kind::op:
      return scope.ops;
    case Spec::Kind::model:
      return scope.models;
    case Spec::Kind::torch_class:
      return scope.classes;
  }
  return false;
}

// A kernel that replaces the CPU's is compared with that as one of an accelerator is.
bool replaces_cpu_kernel(const CallKey& key) {
  return key.device == c10::kCPU && key.spec->replaces_kernel();
}

bool is_of_kind(const CallKey& key, Scope::Device device) {
  switch (device) {
    case Scope::Device::cpu:
      return key.device == c10::kCPU;
    case Scope::Device::accelerator:
      return key.device != c10::kCPU;
    case Scope::Device::simulated:
      return key.simulated;
    case Scope::Device::cpu_or_simulated:
      return key.simulated || key.device == c10::kCPU;
  }
  return false;
}

bool of_variant(Scope::Variants wanted, const Variant& variant) {
  switch (wanted) {
    case Scope::Variants::contiguous:
      return variant.kind == Variant::Kind::contiguous;
    case Scope::Variants::rearranged:
      return variant.kind == Variant::Kind::rearranged;
    case Scope::Variants::resized:
      return variant.kind == Variant::Kind::resized;
    case Scope::Variants::same_sizes:
      return variant.kind == Variant::Kind::contiguous || variant.kind == Variant::Kind::rearranged;
    case Scope::Variants::packaged:
      return variant.packaged;
    case Scope::Variants::every:
      return variant.kind != Variant::Kind::bad;
    case Scope::Variants::bad:
      return variant.kind == Variant::Kind::bad;
  }
  return false;
}

// False if the spec fixes the dtype of every tensor: the dtype of the case does not change such a call.
bool takes_the_dtype(const CallKey& key) {
  return std::ranges::any_of(tensor_slots(*key.spec, *key.sample),
                             [](const TensorSlot& slot) { return !slot.described->dtype; });
}

// Whether the values of the sample exist in the dtype: uint8 has none from -2 to -1.
bool holds_the_values(const CallKey& key) {
  return std::ranges::all_of(tensor_slots(*key.spec, *key.sample), [&](const TensorSlot& slot) {
    return can_hold_values(slot.described->domain, dtype_of(*slot.described, key));
  });
}

// The dtypes of the call's floating and complex tensors.
std::vector<c10::ScalarType> floating_dtypes(const CallKey& key) {
  std::vector<c10::ScalarType> dtypes;
  for (const TensorSlot& slot : tensor_slots(*key.spec, *key.sample)) {
    const c10::ScalarType dtype = dtype_of(*slot.described, key);
    if (c10::isFloatingType(dtype) || c10::isComplexType(dtype)) dtypes.push_back(dtype);
  }
  return dtypes;
}

bool all_double(const CallKey& key) {
  return std::ranges::all_of(floating_dtypes(key),
                             [](c10::ScalarType dtype) { return dtype == c10::kDouble; });
}

// Whether what the operator computes is compared with something else than the operator.
bool has_reference_of_its_own(const Spec& spec) {
  return !spec.draft && spec.reference != nullptr && !is_compared_with_itself(spec);
}

// Whether the operator declares no dtype in which all of the call is Double, and none of more bits than this
// one.
bool is_most_precise(const CallKey& key, const Dtypes& declared) {
  const auto precision = [](c10::ScalarType dtype) {
    const auto format = float_format(dtype);
    return format ? format->precision : 0;
  };
  CallKey other = key;
  for (const c10::ScalarType dtype : declared) {
    other.dtype = dtype;
    if (all_double(other)) return false;
  }
  const auto best = std::ranges::max_element(declared, {}, precision);
  return *best == key.dtype;
}

// Derivatives need an input to differentiate by, and ordinary numbers: no operator promises them at
// infinity, or where one step leaves the range of the dtype.
bool has_derivative(const CallKey& key) {
  const std::vector<c10::ScalarType> dtypes = floating_dtypes(key);
  // torch has too few kernels of complex32 for a backward pass, and none that compares its results.
  if (dtypes.empty() || std::ranges::find(dtypes, c10::kComplexHalf) != dtypes.end()) return false;
  return std::ranges::all_of(tensor_slots(*key.spec, *key.sample), [](const TensorSlot& slot) {
    return find_family(slot.described->domain).ordinary;
  });
}

bool of_dtype(Scope::Dtypes wanted, const CallKey& key, bool first_sample) {
  const Dtypes& declared = key.spec->dtypes.at(key.device);
  // A draft's samples have the values of recorded calls, and each of these had a dtype of its own.
  const bool is_declared = std::ranges::find(declared, key.dtype) != declared.end() &&
                           (!key.spec->draft || c10::isFloatingType(key.dtype) || holds_the_values(key));
  switch (wanted) {
    case Scope::Dtypes::declared:
      return is_declared;
    case Scope::Dtypes::every:
      if (key.spec->draft) return is_declared;  // each recorded call has dtypes of its own
      return first_sample && (is_declared || (takes_the_dtype(key) && holds_the_values(key)));
    case Scope::Dtypes::first:
      return key.dtype == declared.front();
    case Scope::Dtypes::most_precise:
      return is_declared &&
             (all_double(key) || (!has_reference_of_its_own(*key.spec) && is_most_precise(key, declared)));
  }
  return false;
}

bool of_sweep(Scope::Sweep sweep, const CallKey& key, const Variant& variant, bool first_sample) {
  if (sweep == Scope::Sweep::every_combination) return true;
  const bool first_dtype = key.dtype == key.spec->dtypes.at(key.device).front();
  const bool contiguous = variant.kind == Variant::Kind::contiguous;
  return first_sample ? first_dtype || contiguous : first_dtype && contiguous;
}

bool writes_to_an_argument(const Spec& spec) { return spec.op && spec.op->schema().is_mutable(); }

bool of_replaced(const Scope& scope, const Spec& spec) {
  if (scope.over_torch || !spec.replaces_kernel()) return true;
  return scope.over_autograd && c10::toFunctionalityKey(c10::parseDispatchKey(spec.replaced_at)) ==
                                    c10::DispatchKey::AutogradFunctionality;
}

bool has_what_decides(const Scope& scope, const Spec& spec) {
  return !scope.reference || spec.reference != nullptr || (scope.replaced_too && spec.replaces_kernel());
}

bool is_compared_with_cpu(const CallKey& key) {
  if (has_cpu_kernel_as_reference(*key.spec)) return true;
  const auto declared = key.spec->dtypes.find(c10::kCPU);
  return declared != key.spec->dtypes.end() &&
         std::ranges::find(declared->second, key.dtype) != declared->second.end();
}

// Promises that are checked on a draft's first sample although it does not make them; a failure is a note.
bool is_noted_of_drafts(Promise promise) { return promise == Promise::capturable; }

bool is_asked(Promise promise, const CallKey& key, bool first_sample) {
  return key.spec->promised(promise) || (first_sample && key.spec->draft && is_noted_of_drafts(promise));
}

}  // namespace

bool may_ask_more_of_drafts(const Scope& scope) {
  return scope.dtypes == Scope::Dtypes::every || scope.on_cpu_too ||
         (scope.promised && is_noted_of_drafts(*scope.promised));
}

bool in_scope(const Scope& scope, const CallKey& key, const Variant& variant) {
  const bool first_sample = key.sample == &key.spec->samples.front();
  return of_kind(scope, key.spec->kind) && (!scope.subjects || scope.subjects->contains(key.spec->name)) &&
         of_variant(scope.variants, variant) && of_dtype(scope.dtypes, key, first_sample) &&
         of_sweep(scope.sweep, key, variant, first_sample) && (first_sample || !scope.first_sample) &&
         has_what_decides(scope, *key.spec) && (scope.drafts || !key.spec->draft) &&
         (!scope.promised || is_asked(*scope.promised, key, first_sample)) &&
         (variant.accepts_dtype == nullptr || variant.accepts_dtype(key.dtype)) &&
         (!variant.mixes_devices || key.device != c10::kCPU) && (!scope.derivatives || has_derivative(key)) &&
         !(scope.in_cpp && key.spec->kernels_in_python) &&
         !(scope.registered && is_function(key.spec->name)) && of_replaced(scope, *key.spec) &&
         (!scope.device || is_of_kind(key, *scope.device) ||
          (scope.on_cpu_too && replaces_cpu_kernel(key))) &&
         (!scope.on_cpu_too || is_compared_with_cpu(key)) &&
         (!scope.writes || writes_to_an_argument(*key.spec)) &&
         !key.spec->unspecified_for.contains(std::string(scope.unless_unspecified_for));
}

}  // namespace opgate
