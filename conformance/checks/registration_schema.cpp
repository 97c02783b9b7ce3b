// registration.schema: the schema is one that PyTorch's subsystems can work with.
#include <ATen/core/function_schema.h>
#include <fmt/format.h>

#include "judging/check.h"
#include "judging/verdict.h"
#include "spec/spec.h"
#include "spec/specs.h"

namespace opgate::registration_schema {
namespace {

bool writes(const c10::Argument& argument) {
  return argument.alias_info() != nullptr && argument.alias_info()->isWrite();
}

bool shares_label(const c10::Argument& one, const c10::Argument& other) {
  if (one.alias_info() == nullptr || other.alias_info() == nullptr) return false;
  for (const auto& label : one.alias_info()->beforeSets()) {
    if (other.alias_info()->beforeSets().contains(label)) return true;
  }
  return false;
}

std::optional<Finding> returns_what_it_writes(const Spec& spec, const c10::FunctionSchema& schema) {
  for (const c10::Argument& result : schema.returns()) {
    for (const c10::Argument& argument : schema.arguments()) {
      if (!writes(argument) || !shares_label(argument, result)) continue;
      return Finding{
          "an operator that writes an argument returns nothing that it writes",
          fmt::format("`{}` is both written and returned: {}", argument.name(), schema_text(spec)),
          "torch.compile cannot functionalize such an operator outside ATen, whose operators have rules of "
          "their own; return nothing, `-> ()`, because the caller has the tensor"};
    }
  }
  return std::nullopt;
}

std::optional<Finding> unknown_label(const Spec& spec, const c10::FunctionSchema& schema) {
  for (const c10::Argument& result : schema.returns()) {
    if (result.alias_info() == nullptr || result.alias_info()->beforeSets().empty()) continue;
    bool known = result.alias_info()->isWildcardBefore();
    for (const c10::Argument& argument : schema.arguments()) known = known || shares_label(argument, result);
    if (known) continue;
    return Finding{"each alias label of a result is also the label of an argument",
                   fmt::format("a result has a label that no argument has: {}", schema_text(spec)),
                   "write the same letter at the argument whose memory is returned, as in Tensor(a) x -> "
                   "Tensor(a)"};
  }
  return std::nullopt;
}

// Where the reference is an operator too, arguments of the same name must have the same default.
std::optional<Finding> other_default(const Spec& spec, const c10::FunctionSchema& schema) {
  const auto reference = spec.reference_op.empty() ? std::nullopt : find_op(spec.reference_op);
  if (!reference) return std::nullopt;
  for (const c10::Argument& argument : schema.arguments()) {
    const auto theirs = reference->schema().argumentIndexWithName(argument.name());
    if (!theirs || !argument.default_value()) continue;
    const auto& expected = reference->schema().arguments()[static_cast<size_t>(*theirs)].default_value();
    if (!expected || argument.default_value()->tagKind() != expected->tagKind() ||
        *argument.default_value() == *expected)
      continue;
    std::ostringstream mine;
    std::ostringstream wanted;
    mine << *argument.default_value();
    wanted << *expected;
    return Finding{
        fmt::format("`{}` has the default that the reference {} has", argument.name(), spec.reference_op),
        fmt::format("the default is {}, and the reference's is {}", mine.str(), wanted.str()),
        "a caller who leaves the argument out gets another function than the reference's"};
  }
  return std::nullopt;
}

Judgement judge(CallUnderTest& under_test) {
  const c10::FunctionSchema& schema = under_test.op().schema();
  const Spec& spec = *under_test.key().spec;
  const bool of_torch = spec.name.starts_with("aten::") || spec.name.starts_with("prims::");
  if (!of_torch) {
    if (auto finding = returns_what_it_writes(spec, schema)) return Judgement::fail(*std::move(finding));
  }
  if (auto finding = unknown_label(spec, schema)) return Judgement::fail(*std::move(finding));
  if (auto finding = other_default(spec, schema)) return Judgement::fail(*std::move(finding));
  return Judgement::pass();
}

OPGATE_REGISTER_CHECK(registration_schema, {.name = "registration.schema",
                                            .scope = {.variants = Scope::Variants::contiguous,
                                                      .dtypes = Scope::Dtypes::first,
                                                      .first_sample = true,
                                                      .registered = true},
                                            .quick = true,
                                            .judge = &judge});

}  // namespace
}  // namespace opgate::registration_schema
