// fake.metadata: the meta kernel returns tensors with the metadata of the real results.
#include <ATen/ATen.h>
#include <ATen/core/function_schema.h>
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/dtypes.h"
#include "call/meta_call.h"
#include "compare/widen.h"
#include "judging/calls/converted_call.h"
#include "judging/check.h"
#include "judging/comparison/output_judgement.h"
#include "judging/fault.h"
#include "judging/refusals/fake_kernel.h"
#include "spec/registration.h"
#include "spec/spec.h"

namespace opgate::fake_metadata {
namespace {

// PyTorch's message where an operator has no kernel for meta tensors begins with that operator's name.
bool lacks_fake_of_another(const std::string& name, const std::string& message) {
  return message.find(": attempted to run this operator with Meta tensors") != std::string::npos &&
         !message.starts_with(name + ":");
}

// The device of the first result that is neither on meta nor, where the spec says so, on the CPU. Fake
// tensors refuse such a kernel; of a composite one they see the operators that it calls.
std::optional<std::string> other_device(const Outcome& meta, const Spec& spec) {
  const std::vector<at::Tensor> results = meta.values();
  const std::set<size_t> on_cpu = meta.tensors_of(spec.on_cpu);
  for (size_t i = 0; i < results.size(); ++i) {
    const bool is_meant = results[i].defined() && results[i].is_cpu() && on_cpu.contains(i);
    if (results[i].defined() && !results[i].is_meta() && !is_meant) return results[i].device().str();
  }
  return std::nullopt;
}

// The first argument whose memory a result of the fake kernel shares, and the real result does not. Where the
// arguments of a case share a storage, the real result may share it with several.
std::optional<std::string> alias_of_fake_alone(CallUnderTest& under_test) {
  const Observation& real = under_test.observed();
  const Arguments meta = on_meta(real.arguments);
  const Outcome fake = invoke(under_test.op(), meta.stack, c10::kMeta);
  const std::vector<at::Tensor> results = fake.returned(), real_results = real.outcome.returned();
  const auto share = [](const at::Tensor& a, const at::Tensor& b) {
    return a.defined() && b.defined() && a.has_storage() && b.has_storage() && a.is_alias_of(b);
  };
  for (size_t i = 0; i < std::min(results.size(), real_results.size()); ++i) {
    for (size_t k = 0; k < meta.tensors.size(); ++k) {
      if (share(results[i], meta.tensors[k].tensor) &&
          !share(real_results[i], real.arguments.tensors[k].tensor))
        return meta.tensors[k].name;
    }
  }
  return std::nullopt;
}

// A kernel that takes the wrong dtype for another one would read a narrower one past its end: the red zones
// of small tensors are large enough for that.
constexpr int64_t kFewElements = 4096;

// The dtype in which a draft asks, too: one that can hold the values.
std::optional<c10::ScalarType> other_dtype(c10::ScalarType dtype, const Arguments& arguments) {
  if (dtype == c10::kHalf || dtype == c10::kBFloat16) return c10::kFloat;
  if (dtype == c10::kFloat) return c10::kDouble;
  const bool are_small = std::ranges::all_of(
      arguments.tensors, [](const TensorInput& input) { return input.tensor.numel() <= kFewElements; });
  return dtype == c10::kDouble && are_small ? std::optional(c10::kFloat) : std::nullopt;
}

// Whether results in two dtypes are about the same numbers, so that the operator computes in both.
bool are_alike(const Outcome& one, const Outcome& other) {
  constexpr double kOfLargest = 0.1;
  return std::ranges::equal(one.values(), other.values(), [](const at::Tensor& a, const at::Tensor& b) {
    if (!a.defined() || !b.defined()) return a.defined() == b.defined();
    if (a.sizes() != b.sizes()) return false;
    if (!a.is_floating_point() || a.numel() == 0) return true;
    const at::Tensor near =
        a.to(at::kDouble).sub(b.to(at::kDouble)).abs().le(largest_magnitude(b) * kOfLargest);
    return near.logical_or(b.isfinite().logical_not()).all().item<bool>();
  });
}

// A draft declares the dtypes that were recorded, and those who call the operator may use another one that it
// takes. So the first sample is also asked in another dtype.
std::optional<std::string> difference_in_another_dtype(CallUnderTest& under_test) {
  const CallKey& key = under_test.key();
  if (!key.spec->draft || key.spec->reference != nullptr || key.sample != &key.spec->samples.front() ||
      key.spec->promised(Promise::nondeterministic_seeded))
    return std::nullopt;
  const Observation& real = under_test.observed();
  const auto other = other_dtype(key.dtype, real.arguments);
  if (!other) return std::nullopt;
  const auto converted =
      converted_call(under_test, key.dtype, [&](const at::Tensor& values) { return values.to(*other); });
  if (!converted || !are_alike(converted->outcome, real.outcome)) return std::nullopt;
  const Outcome fake = call_on_meta(under_test.op(), converted->arguments);
  if (!fake.ok()) return std::nullopt;
  const auto difference = metadata_difference(fake, converted->outcome);
  if (!difference) return std::nullopt;
  return fmt::format("with {} for {}, under the meta kernel {}, as the real kernel returned",
                     dtype_name(*other), dtype_name(key.dtype), *difference);
}

Judgement judge(CallUnderTest& under_test) {
  const Outcome& real = under_test.observed().outcome;
  if (auto refused = refused_sample(under_test)) return *std::move(refused);
  const Outcome& meta = under_test.fake();
  const std::string promised =
      "the meta kernel returns tensors with the shape, strides, storage offset and dtype of the real ones";
  // The real kernel may refuse the values, which the meta kernel does not see, or the layout, which
  // value.layout judges.
  if (!real.ok()) return Judgement::pass();
  if (!meta.ok() &&
      meta.raised->message.find("data-dependent shape. Meta Tensors don't support") != std::string::npos)
    return Judgement::owed(
        "the sizes of the result depend on values; fake.symbolic and opcheck judge such fake kernels");
  const Spec& spec = *under_test.key().spec;
  const bool is_another_s_fault = !meta.ok() && ((spec.draft && is_composite(*spec.op)) ||
                                                 lacks_fake_of_another(spec.name, meta.raised->message));
  if (is_another_s_fault) {
    return Judgement::owed(
        "the fake kernel calls another operator, whose own is missing or registered in Python, which this "
        "worker does not load; opcheck looks at it");
  }
  if (!meta.ok()) {
    return Judgement::fail({promised,
                            "the meta kernel raised: " + meta.raised->message,
                            "no meta kernel is registered (TORCH_LIBRARY_IMPL(..., Meta, m), register_fake "
                            "in Python), or it touches data, which a meta tensor does not have",
                            {fault::kFake, ""}});
  }
  const bool takes_tensors =
      !under_test.observed().arguments.tensors.empty();  // others are given the device, or none
  if (const auto device = other_device(meta, spec); device && takes_tensors && !is_composite(*spec.op)) {
    return Judgement::fail({promised,
                            fmt::format("the meta kernel returned a tensor on {}, not on meta", *device),
                            "it allocates without the options of its input: at::empty(sizes, x.options())",
                            {fault::kFake, ""}});
  }
  if (const auto difference = metadata_difference(meta, real)) {
    return Judgement::fail(
        {promised,
         "under the meta kernel " + *difference + ", as the real kernel returned",
         "allocate the output by the same expression in both kernels, such as at::empty_like(x) or the same "
         "as_strided",
         {fault::kFake, ""}});
  }
  if (!under_test.key().is_contiguous()) return Judgement::pass();
  if (const auto argument = alias_of_fake_alone(under_test)) {
    return Judgement::fail(
        {"the meta kernel returns a tensor of its own where the real kernel does",
         fmt::format("the meta kernel returns `{}` itself or a view of it", *argument),
         "x.contiguous(), x.to(dtype) and slices return the input or a view of it; allocate the output: "
         "at::empty_like(x)",
         {fault::kFake, ""}});
  }
  if (const auto difference = difference_in_another_dtype(under_test)) {
    return Judgement::fail(
        {promised,
         *difference,
         "the meta kernel names a dtype where the real one takes that of its argument: x.options() has it",
         {fault::kFake, ""}});
  }
  return Judgement::pass();
}

OPGATE_REGISTER_CHECK(fake_metadata, {.name = "fake.metadata",
                                      .scope = {.variants = Scope::Variants::every, .registered = true},
                                      .quick = true,
                                      .explores = true,
                                      .needs_fake = true,
                                      .obstacle = &fake_lives_in_python,
                                      .judge = &judge});

}  // namespace
}  // namespace opgate::fake_metadata
