// effect.alias: outputs share storage with inputs, and with each other, exactly as the schema says.
#include <ATen/core/function_schema.h>
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/tensors_in.h"
#include "judging/check.h"
#include "judging/comparison/output_judgement.h"
#include "judging/fault.h"
#include "spec/registration.h"
#include "spec/spec.h"
#include "spec/specs.h"

namespace opgate::effect_alias {
namespace {

// Addresses are compared as well as storage objects, because from_blob(x.data_ptr()) is an alias too, and a
// tensor without elements has no address.
bool share_storage(const at::Tensor& a, const at::Tensor& b) {
  if (!a.has_storage() || !b.has_storage()) return false;
  if (a.storage().is_alias_of(b.storage())) return true;
  const auto begin = [](const at::Tensor& t) { return reinterpret_cast<uintptr_t>(t.storage().data()); };
  const auto end = [&](const at::Tensor& t) { return begin(t) + t.storage().nbytes(); };
  return begin(a) < end(b) && begin(b) < end(a);
}

// The byte range of a view's elements. Where several arguments lie in one storage, only this range tells
// which of them an output aliases.
std::pair<uintptr_t, uintptr_t> extent(const at::Tensor& tensor) {
  const auto begin = reinterpret_cast<uintptr_t>(tensor.const_data_ptr());
  int64_t last = 0;
  for (int64_t dim = 0; dim < tensor.dim(); ++dim) last += (tensor.size(dim) - 1) * tensor.stride(dim);
  return {begin, begin + static_cast<uintptr_t>(last + 1) * tensor.element_size()};
}

bool overlap(const at::Tensor& a, const at::Tensor& b) {
  if (a.numel() == 0 || b.numel() == 0) return false;
  const auto [a_begin, a_end] = extent(a);
  const auto [b_begin, b_end] = extent(b);
  return a_begin < b_end && b_begin < a_end;
}

// One returned tensor, and the index of the schema's result that it is or, for a list, that contains it.
struct Output {
  size_t result;
  std::string name;
  at::Tensor tensor;
};

std::vector<Output> outputs_of(const Outcome& outcome) {
  std::vector<Output> outputs;
  const size_t count = outcome.returned().size();
  for (size_t r = 0; r < outcome.results.size(); ++r) {
    for (const at::Tensor& tensor : tensors_in(outcome.results[r])) {
      outputs.push_back({r, output_name(outputs.size(), count), tensor});
    }
  }
  return outputs;
}

// What the alias annotations of the schema say of two of its arguments or results.
enum class Declared {
  none,   ///< they share no storage
  may,    ///< they may: an element of a list, or "*", any value
  shared  ///< they do: Tensor(a) and Tensor(a)
};

bool is_wildcard(const c10::AliasInfo& info) { return info.isWildcardBefore() || info.isWildcardAfter(); }

// The names of the alias sets, with those of the elements of a list: (a) in Tensor(a) and Tensor(a)[].
std::set<c10::Symbol> alias_sets(const c10::AliasInfo& info) {
  std::set<c10::Symbol> sets(info.beforeSets().begin(), info.beforeSets().end());
  sets.insert(info.afterSets().begin(), info.afterSets().end());
  for (const c10::AliasInfo& contained : info.containedTypes()) sets.merge(alias_sets(contained));
  return sets;
}

bool has_wildcard(const c10::AliasInfo& info) {
  return is_wildcard(info) || std::ranges::any_of(info.containedTypes(), has_wildcard);
}

Declared declared(const c10::Argument& one, const c10::Argument& other) {
  const c10::AliasInfo* const mine = one.alias_info();
  const c10::AliasInfo* const theirs = other.alias_info();
  if (mine == nullptr || theirs == nullptr) return Declared::none;
  if (has_wildcard(*mine) || has_wildcard(*theirs)) return Declared::may;
  const std::set<c10::Symbol> sets = alias_sets(*theirs);
  const bool common =
      std::ranges::any_of(alias_sets(*mine), [&](c10::Symbol set) { return sets.contains(set); });
  if (!common) return Declared::none;
  return one.type()->kind() == c10::TypeKind::TensorType && other.type()->kind() == c10::TypeKind::TensorType
             ? Declared::shared
             : Declared::may;
}

// Functionalization never sees an operator that is composed of others, but these: aten::reshape is declared
// as a view and may copy, and aten::dropout may return its input undeclared. Nobody has promised more for a
// draft.
bool is_loosely_annotated(const Spec& spec) { return spec.draft && is_composite(*spec.op); }

std::optional<Finding> input_alias(const Output& output, const TensorInput& input, bool alone_in_its_storage,
                                   const Spec& spec) {
  const c10::FunctionSchema& schema = spec.op->schema();
  Declared said = declared(schema.returns().at(output.result), schema.arguments().at(input.position));
  const bool does = alone_in_its_storage ? share_storage(output.tensor, input.tensor)
                                         : overlap(output.tensor, input.tensor);
  if (is_loosely_annotated(spec)) said = Declared::may;
  // A copy of nothing cannot be distinguished from a view of it.
  if (said == Declared::shared && !does && !input.before.empty()) {
    return Finding{fmt::format("{} shares storage with `{}`: {}", output.name, input.name, schema_text(spec)),
                   fmt::format("{} has a storage of its own", output.name),
                   "the schema declares an alias, and on this path the kernel returns a copy",
                   {fault::kAlias, input.name}};
  }
  if (said != Declared::none || !does) return std::nullopt;
  return Finding{
      fmt::format("{} does not share storage with `{}`: {}", output.name, input.name, schema_text(spec)),
      fmt::format("{} is `{}` itself or a view of it", output.name, input.name),
      fmt::format("the kernel returns its input on some path (when it is contiguous, or there is nothing to "
                  "do); return {}.clone() there, or declare the alias, Tensor(a) {}",
                  input.name, input.name),
      {fault::kAlias, input.name}};
}

std::optional<Finding> output_alias(const Output& one, const Output& other, const Spec& spec) {
  const c10::FunctionSchema& schema = spec.op->schema();
  const bool is_allowed =
      declared(schema.returns().at(one.result), schema.returns().at(other.result)) != Declared::none;
  if (is_allowed || !share_storage(one.tensor, other.tensor)) return std::nullopt;
  // Parts of a tensor that was made for the list, as by split(), do not disturb each other.
  if (one.result == other.result && !overlap(one.tensor, other.tensor)) return std::nullopt;
  return Finding{"each output has a storage of its own: " + schema_text(spec),
                 fmt::format("{} and {} share one storage", one.name, other.name),
                 "both are views of one workspace; clone one of them",
                 {fault::kAlias, fault::kAmongResults}};
}

// The storages of the arguments that a result is declared to alias.
std::set<size_t> declared_storages(const Output& output, const Arguments& arguments,
                                   const c10::FunctionSchema& schema) {
  std::set<size_t> storages;
  for (const TensorInput& input : arguments.tensors) {
    if (declared(schema.returns().at(output.result), schema.arguments().at(input.position)) != Declared::none)
      storages.insert(input.storage);
  }
  return storages;
}

// Whether two results are arguments, or views of them, that the caller has put into one storage.
bool lie_together(const Output& one, const Output& other, const Arguments& arguments,
                  const c10::FunctionSchema& schema) {
  const std::set<size_t> mine = declared_storages(one, arguments, schema);
  return std::ranges::any_of(declared_storages(other, arguments, schema),
                             [&](size_t storage) { return mine.contains(storage); });
}

std::optional<Finding> wrong_alias(const Outcome& call, const Arguments& arguments, const Spec& spec) {
  const std::vector<Output> outputs = outputs_of(call);
  for (size_t i = 0; i < outputs.size(); ++i) {
    for (const TensorInput& input : arguments.tensors) {
      const bool alone = std::ranges::count(arguments.tensors, input.storage, &TensorInput::storage) == 1;
      if (auto finding = input_alias(outputs[i], input, alone, spec)) return finding;
    }
    for (size_t j = 0; j < i; ++j) {
      if (lie_together(outputs[j], outputs[i], arguments, spec.op->schema())) continue;
      if (auto finding = output_alias(outputs[j], outputs[i], spec)) return finding;
    }
  }
  return std::nullopt;
}

Judgement judge(CallUnderTest& under_test) {
  const Observation& call = under_test.observed();
  if (auto refused = refused_sample(under_test)) return *std::move(refused);
  auto finding = wrong_alias(call.outcome, call.arguments, *under_test.key().spec);
  // Inputs that require gradients go through the Autograd kernel, which the call without gradients skips.
  const Observation* with_gradients = finding ? nullptr : under_test.observed_with_gradients();
  if (with_gradients != nullptr) {
    finding = wrong_alias(with_gradients->outcome, with_gradients->arguments, *under_test.key().spec);
    if (finding) finding->promised += ", also if its inputs require gradients";
  }
  return finding ? Judgement::fail(*std::move(finding)) : Judgement::pass();
}

OPGATE_REGISTER_CHECK(effect_alias, {.name = "effect.alias",
                                     .scope = {.variants = Scope::Variants::every, .registered = true},
                                     .quick = true,
                                     .explores = true,
                                     .judge = &judge});

}  // namespace
}  // namespace opgate::effect_alias
