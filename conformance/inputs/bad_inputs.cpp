#include "inputs/bad_inputs.h"

#include <fmt/format.h>
#include <opgate/error.h>

#include <algorithm>
#include <charconv>

#include "inputs/empty_group.h"

namespace opgate {
namespace {

constexpr std::string_view kPrefix = "bad:";
constexpr std::string_view kAt = ".at";

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

// A number between 0 and the smallest normal number of the dtype.
double subnormal_of(c10::ScalarType dtype) {
  return dtype == c10::kDouble || dtype == c10::kComplexDouble ? 1e-310 : dtype == c10::kHalf ? 1e-5 : 1e-39;
}

// What bad_element() has written, made from the same damage to the middle element.
std::optional<BadInput> with_another_element(const std::string& variant, const std::vector<BadInput>& all) {
  const size_t at = variant.rfind(kAt), equals = variant.rfind('=');
  if (at == std::string::npos || equals == std::string::npos) return std::nullopt;
  int64_t element = 0;
  const char* const end = variant.data() + equals;
  const auto read = std::from_chars(variant.data() + at + kAt.size(), end, element);
  const bool is_subnormal = variant.substr(equals + 1) == kSubnormal;
  const std::string middle =
      variant.substr(0, at) + ".value" + (is_subnormal ? "=nan" : variant.substr(equals));
  const auto found = std::ranges::find(all, middle, &BadInput::text);
  if (read.ec != std::errc() || read.ptr != end || found == all.end()) return std::nullopt;
  BadInput moved = *found;
  moved.text = variant;
  moved.at = element;
  if (is_subnormal) moved.given = kSubnormal;
  return moved;
}

}  // namespace

std::string bad_element(std::string_view argument, int64_t at, std::string_view value) {
  return fmt::format("{}{}{}{}={}", kPrefix, argument, kAt, at, value);
}

std::vector<BadInput> bad_inputs(const Spec& spec, const Sample& sample) {
  std::vector<BadInput> all = bad_tensors(spec, sample);
  std::ranges::move(bad_values(spec, sample), std::back_inserter(all));
  for (BadInput& bad : all) bad.text.insert(0, kPrefix);
  return all;
}

bool is_bad_input(std::string_view variant) { return variant.starts_with(kPrefix); }

BadInput find_bad_input(const CallKey& key) {
  std::vector<BadInput> all = bad_inputs(*key.spec, *key.sample);
  const auto found = std::ranges::find(all, key.variant, &BadInput::text);
  if (found != all.end()) return std::move(*found);
  if (std::optional<BadInput> moved = with_another_element(key.variant, all)) return *std::move(moved);
  throw SetupError(
      fmt::format("'{}' is no bad input of sample {} of {}", key.variant, key.sample->name, key.spec->id));
}

Arguments materialize_bad_input(const CallKey& key, ValueCache& cache, const MaterializeOptions& options) {
  const BadInput bad = find_bad_input(key);
  const Sample sample = damaged(*key.sample, bad);
  CallKey plain = key;
  plain.sample = &sample;
  plain.variant = kContiguous;
  ValueCache values;  // not `cache`, which knows samples by their address: this one ends with the function
  Arguments arguments = materialize(plain, values, options);
  switch (bad.kind) {
    case BadInput::Kind::dtype: {
      TensorInput& input = input_named(arguments, bad.argument);
      keep_values(input, key, cache, options);
      take_snapshot(input, options);
      break;
    }
    case BadInput::Kind::index:
    case BadInput::Kind::special: {
      TensorInput& input = input_named(arguments, bad.argument);
      const int64_t count = input.tensor.numel();
      const int64_t at = bad.at                                ? *bad.at
                         : bad.place == BadInput::Place::first ? 0
                         : bad.place == BadInput::Place::last  ? count - 1
                                                               : count / 2;
      input.tensor.view({-1}).narrow(0, at, 1).fill_(
          bad.given == kSubnormal ? subnormal_of(input.tensor.scalar_type()) : *bad.element);
      take_snapshot(input, options);
      break;
    }
    case BadInput::Kind::group: {
      TensorInput& input = input_named(arguments, bad.argument);
      for (const TensorSlot& slot : tensor_slots(*key.spec, *key.sample)) {
        if (slot.name == bad.argument) empty_group(*slot.described, input.tensor, bad.place);
      }
      take_snapshot(input, options);
      break;
    }
    case BadInput::Kind::device: {
      TensorInput& input = input_named(arguments, bad.argument);
      input.tensor = input.tensor.cpu();
      arguments.replace(input, input.tensor);
      break;
    }
    case BadInput::Kind::undefined: {
      const TensorInput& input = input_named(arguments, bad.argument);
      arguments.replace(input, at::Tensor());
      std::erase_if(arguments.tensors, [&](const TensorInput& other) { return other.name == bad.argument; });
      break;
    }
    case BadInput::Kind::shape:
    case BadInput::Kind::integer:
    case BadInput::Kind::number:
    case BadInput::Kind::list:
    case BadInput::Kind::text:
    case BadInput::Kind::flag:
    case BadInput::Kind::choice:
      break;  // the sample holds the whole damage
  }
  return arguments;
}

std::string describe_bad_input(std::string_view variant) {
  std::string_view text = variant.substr(kPrefix.size());
  const auto ends = [&](std::string_view suffix) {
    if (!text.ends_with(suffix)) return false;
    text.remove_suffix(suffix.size());
    return true;
  };
  if (ends(".rank+1")) return fmt::format("`{}` has one dim more", text);
  if (ends(".rank-1")) return fmt::format("`{}` has one dim less", text);
  if (ends(".undefined")) return fmt::format("`{}` is an undefined tensor", text);
  if (ends(".empty")) return fmt::format("`{}` is an empty list", text);
  if (ends(".longer")) return fmt::format("`{}` has one entry more", text);
  if (ends(".shorter")) return fmt::format("`{}` has one entry less", text);
  const bool is_longer = text.ends_with("+1");
  if (const auto size = text.rfind(".size");
      size != std::string_view::npos && (is_longer || text.ends_with("-1"))) {
    const std::string_view dim = text.substr(size + 5, text.size() - size - 7);
    return fmt::format("dim {} of `{}` is {} by one", dim, text.substr(0, size),
                       is_longer ? "longer" : "shorter");
  }
  const auto equals = text.rfind('=');
  const std::string_view value = text.substr(equals + 1);
  text = text.substr(0, equals);
  if (ends(".group"))
    return fmt::format("nothing belongs to the {} group of `{}`", value.substr(value.rfind('-') + 1), text);
  if (ends(".size0")) return fmt::format("dim 0 of `{}` is empty", text);
  if (ends(".value")) return fmt::format("one element of `{}` is {}", text, value);
  if (ends(".first")) return fmt::format("the first element of `{}` is {}", text, value);
  if (ends(".last")) return fmt::format("the last element of `{}` is {}", text, value);
  if (const auto at = text.rfind(kAt); at != std::string_view::npos)
    return fmt::format("element {} of `{}` is {}", text.substr(at + kAt.size()), text.substr(0, at), value);
  if (ends(".device")) return fmt::format("`{}` is on the {} among tensors on another device", text, value);
  if (ends(".dtype")) return fmt::format("`{}` is {}", text, value);
  return fmt::format("`{}` is {}", text, value);
}

}  // namespace opgate
