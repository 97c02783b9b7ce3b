// registration.tags: the operator's tags say what it does.
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/flip.h>

#include <algorithm>
#include <numeric>

#include "judging/check.h"
#include "judging/comparison/output_judgement.h"

namespace opgate::registration_tags {
namespace {

// Passes over graphs merge two equal calls, and compute results again instead of keeping them, where this tag
// is missing.
std::optional<Finding> untagged_random_numbers(CallUnderTest& under_test) {
  const bool draws = under_test.promised(Promise::nondeterministic_seeded);
  if (!draws || under_test.op().hasTag(at::Tag::nondeterministic_seeded)) return std::nullopt;
  return Finding{"an operator that draws random numbers has the tag nondeterministic_seeded",
                 "it draws random numbers, as its spec promises, and has no such tag",
                 "without it, torch.compile merges two calls into one, and computes results again with other "
                 "numbers for backward; m.def(schema, {at::Tag::nondeterministic_seeded})"};
}

at::Tensor flipped(const at::Tensor& tensor) {
  std::vector<int64_t> dims(static_cast<size_t>(tensor.dim()));
  std::iota(dims.begin(), dims.end(), 0);
  // Floating numbers of eight bits cannot be flipped, and bytes can.
  const bool is_byte = tensor.is_floating_point() && tensor.element_size() == 1;
  return is_byte ? tensor.contiguous().view(c10::kByte).flip(dims).view(tensor.scalar_type())
                 : tensor.flip(dims);
}

// A pointwise operator gives the flipped results for flipped arguments, if these need not be broadcast.
std::optional<Finding> not_pointwise(CallUnderTest& under_test) {
  const CallKey& key = under_test.key();
  if (!under_test.op().hasTag(at::Tag::pointwise)) return std::nullopt;
  const std::string promised =
      "an operator with the tag pointwise computes each element from those at its place";
  const Outcome& call = under_test.observed().outcome;
  Arguments arguments = materialize(key, under_test.cache().values, {.take_snapshots = false});
  const auto is_of_other_sizes = [&](const TensorInput& input) {
    return input.tensor.sizes() != arguments.tensors.front().tensor.sizes();
  };
  if (arguments.tensors.empty() || std::ranges::any_of(arguments.tensors, is_of_other_sizes))
    return std::nullopt;
  for (const at::Tensor& result : call.returned()) {
    if (result.sizes() == arguments.tensors.front().tensor.sizes()) continue;
    return Finding{promised, "a result has other sizes than the arguments", "remove the tag"};
  }
  for (const TensorInput& input : arguments.tensors) arguments.replace(input, flipped(input.tensor));
  Outcome turned = call_on(key, arguments.stack);
  if (!turned.ok()) return std::nullopt;  // it may refuse the values
  for (c10::IValue& result : turned.results) {
    if (result.isTensor() && result.toTensor().defined()) result = flipped(result.toTensor());
  }
  for (at::Tensor& written : turned.written) written = flipped(written);
  Judgement judgement = judge_near_each_other(key, turned, call, promised);
  if (!judgement.finding) return std::nullopt;
  judgement.finding->happened =
      "for flipped arguments the result is not the flipped one: " + judgement.finding->happened;
  judgement.finding->likely =
      "an element depends on others, or on its index: remove the tag, by which partitioners and sharding "
      "move and split the call";
  return judgement.finding;
}

Judgement judge(CallUnderTest& under_test) {
  if (auto refused = refused_sample(under_test)) return *std::move(refused);
  if (auto finding = untagged_random_numbers(under_test)) return Judgement::fail(*std::move(finding));
  if (auto finding = not_pointwise(under_test)) return Judgement::fail(*std::move(finding));
  return Judgement::pass();
}

OPGATE_REGISTER_CHECK(registration_tags, {.name = "registration.tags",
                                          .scope = {.variants = Scope::Variants::contiguous,
                                                    .dtypes = Scope::Dtypes::first,
                                                    .first_sample = true,
                                                    .drafts = false,
                                                    .registered = true},
                                          .judge = &judge});

}  // namespace
}  // namespace opgate::registration_tags
