#include "inputs/bad_inputs.h"

#include <algorithm>
#include <cmath>

#include "base/errors.h"
#include "compare/float_format.h"
#include "inputs/empty_group.h"
#include "spec/spec.h"

namespace opgate {
namespace {

// A copy of the sample with one argument replaced. It keeps its name, because the values are keyed by it.
Sample damaged(const Sample& sample, const BadInput& bad) {
  Sample copy = sample;
  copy.arguments.at(bad.position) = bad.instead;
  return copy;
}

TensorInput& input_named(Arguments& arguments, const std::string& name) {
  return *std::ranges::find(arguments.tensors, name, &TensorInput::name);
}

void take_snapshot(TensorInput& input, const MaterializeOptions& options) {
  if (options.take_snapshots) input.before = storage_snapshot(input.tensor);
}

// Copies the sample's own values, converted, so that only the dtype is wrong.
void keep_values(TensorInput& input, const CallKey& key, ValueCache& cache,
                 const MaterializeOptions& options) {
  for (const TensorSlot& slot : tensor_slots(*key.spec, *key.sample)) {
    if (slot.name != input.name) continue;
    input.tensor.copy_(cache.values(key, slot, slot.described->shape, options.value_seed));
  }
}

// Both have nearly the same size, so that the same results overflow: their reciprocals, and multiples of
// these.
double small_number(c10::ScalarType dtype, std::string_view value) {
  const double normal = std::ldexp(1, float_format(dtype)->min_exponent);
  return value == kSmallestNormal ? normal : normal * 127 / 128;  // a subnormal number of BFloat16, too
}

bool is_small(std::string_view value) { return value == kSubnormal || value == kSmallestNormal; }

// InputDamage to an element that is named by its index, made from the same damage to the middle element.
std::optional<BadInput> with_another_element(const InputDamage& damage, const std::vector<BadInput>& all) {
  if (!damage.at) return std::nullopt;
  InputDamage middle = damage;
  middle.at.reset();
  if (is_small(damage.value)) middle.value = "nan";
  const auto found = std::ranges::find(all, middle, &BadInput::damage);
  if (found == all.end()) return std::nullopt;
  BadInput moved = *found;
  moved.damage = damage;
  return moved;
}

}  // namespace

std::vector<BadInput> bad_inputs(const Spec& spec, const Sample& sample) {
  std::vector<BadInput> all = bad_tensors(spec, sample);
  std::ranges::move(bad_values(spec, sample), std::back_inserter(all));
  return all;
}

BadInput find_bad_input(const CallKey& key) {
  if (const std::optional<InputDamage> damage = damage_of(key.variant)) {
    std::vector<BadInput> all = bad_inputs(*key.spec, *key.sample);
    const auto found = std::ranges::find(all, *damage, &BadInput::damage);
    if (found != all.end()) return std::move(*found);
    if (std::optional<BadInput> moved = with_another_element(*damage, all)) return *std::move(moved);
  }
  throw setup_error("'{}' is no bad input of sample {} of {}", key.variant, key.sample->name, key.spec->id);
}

Arguments materialize_bad_input(const CallKey& key, ValueCache& cache, const MaterializeOptions& options) {
  const BadInput bad = find_bad_input(key);
  const InputDamage& damage = bad.damage;
  const Sample sample = damaged(*key.sample, bad);
  CallKey plain = key;
  plain.sample = &sample;
  plain.variant = kContiguous;
  ValueCache values;  // not `cache`, which knows samples by their address: this one ends with the function
  Arguments arguments = materialize(plain, values, options);
  switch (bad.kind) {
    case BadInput::Kind::dtype: {
      TensorInput& input = input_named(arguments, damage.argument);
      keep_values(input, key, cache, options);
      take_snapshot(input, options);
      break;
    }
    case BadInput::Kind::index:
    case BadInput::Kind::special: {
      TensorInput& input = input_named(arguments, damage.argument);
      const int64_t count = input.tensor.numel();
      const int64_t at = damage.at                                   ? *damage.at
                         : damage.place == InputDamage::Place::first ? 0
                         : damage.place == InputDamage::Place::last  ? count - 1
                                                                     : count / 2;
      input.tensor.view({-1}).narrow(0, at, 1).fill_(
          is_small(damage.value) ? small_number(input.tensor.scalar_type(), damage.value) : *bad.element);
      take_snapshot(input, options);
      break;
    }
    case BadInput::Kind::group: {
      TensorInput& input = input_named(arguments, damage.argument);
      for (const TensorSlot& slot : tensor_slots(*key.spec, *key.sample)) {
        if (slot.name == damage.argument) empty_group(*slot.described, input.tensor, damage.place);
      }
      take_snapshot(input, options);
      break;
    }
    case BadInput::Kind::device: {
      TensorInput& input = input_named(arguments, damage.argument);
      input.tensor = input.tensor.cpu();
      arguments.replace(input, input.tensor);
      break;
    }
    case BadInput::Kind::undefined: {
      const TensorInput& input = input_named(arguments, damage.argument);
      arguments.replace(input, at::Tensor());
      std::erase_if(arguments.tensors,
                    [&](const TensorInput& other) { return other.name == damage.argument; });
      break;
    }
    case BadInput::Kind::shape:
    case BadInput::Kind::integer:
    case BadInput::Kind::number:
    case BadInput::Kind::list:
    case BadInput::Kind::text:
    case BadInput::Kind::flag:
    case BadInput::Kind::choice:
    case BadInput::Kind::absent:
      break;  // the sample holds the whole damage
  }
  return arguments;
}

}  // namespace opgate
