// effect.state: the state of the process and of the thread is the same after the call as before it.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "device/device.h"
#include "judging/check.h"
#include "judging/comparison/output_judgement.h"
#include "judging/fault.h"
#include "process/default_generator.h"
#include "spec/spec.h"

namespace opgate::effect_state {
namespace {

bool takes_generator(const Spec& spec) {
  const auto& arguments = spec.op->schema().arguments();
  return std::ranges::any_of(arguments, [](const c10::Argument& argument) {
    const c10::TypePtr& type = argument.type();
    return type->kind() == c10::TypeKind::GeneratorType ||
           (type->kind() == c10::TypeKind::OptionalType &&
            type->expectRef<c10::OptionalType>().getElementType()->kind() == c10::TypeKind::GeneratorType);
  });
}

// Whether the operator says that it draws random numbers, and no sample does. One sample may say nothing: a
// probability of 0 draws none.
bool claims_to_draw(CallUnderTest& under_test) {
  const CallKey& key = under_test.key();
  const Spec& spec = *key.spec;
  const bool is_asked = key.is_contiguous() && key.device == c10::kCPU &&
                        key.sample == &spec.samples.front() && spec.kind == Spec::Kind::op &&
                        spec.promised(Promise::nondeterministic_seeded) && !takes_generator(spec);
  if (!is_asked || under_test.observed().drew_random_numbers) return false;
  return std::ranges::none_of(spec.samples, [&](const Sample& sample) {
    CallKey other = key;
    other.sample = &sample;
    return observe(other, under_test.cache().values, {.take_snapshots = false}).drew_random_numbers;
  });
}

// The values that the call gives from this seed, in the state that it is left in; none if it raises.
std::vector<at::Tensor> values_from(CallUnderTest& under_test, uint64_t seed) {
  const CallKey& key = under_test.key();
  const Arguments arguments = materialize(key, under_test.cache().values, {.take_snapshots = false});
  seed_default_generator(c10::kCPU, seed);
  if (key.device != c10::kCPU) seed_default_generator(key.device, seed);
  return invoke(under_test.op(), arguments.stack, key.device).values();
}

// Whether the result depends on the seed, although the call leaves the generator as it was. Calls that differ
// by themselves, as atomic additions do, say nothing.
bool draws_without_advancing(CallUnderTest& under_test) {
  constexpr uint64_t kOtherSeed = kSeedOfCalls + 1;
  constexpr int kRepetitions = 3;
  const CallKey& key = under_test.key();
  const Spec& spec = *key.spec;
  const Observation& call = under_test.observed();
  if (!(spec.draft || spec.promised(Promise::nondeterministic_seeded)) || !key.is_contiguous() ||
      key.sample != &spec.samples.front() || spec.kind != Spec::Kind::op || takes_generator(spec) ||
      call.drew_random_numbers || !call.outcome.ok())
    return false;
  const auto differs = [](const std::vector<at::Tensor>& one, const std::vector<at::Tensor>& other) {
    return judge_values(one, other, {}).finding.has_value();
  };
  const std::vector<at::Tensor> first = values_from(under_test, kSeedOfCalls);
  const std::vector<at::Tensor> other = values_from(under_test, kOtherSeed);
  bool decides = differs(first, other);
  for (int i = 0; i < kRepetitions && decides; ++i)
    decides = !differs(values_from(under_test, kSeedOfCalls), first) &&
              !differs(values_from(under_test, kOtherSeed), other);
  seed_default_generator(c10::kCPU);
  if (key.device != c10::kCPU) seed_default_generator(key.device);
  return decides;
}

std::optional<Finding> changed_state(const Observation& call, const CallKey& key) {
  if (!call.state_changes.empty()) {
    return Finding{"the process and the thread are as before the call",
                   fmt::format("after the call {}", fmt::join(call.state_changes, "; ")),
                   "set such state with a guard object (at::NoGradGuard, c10::DeviceGuard), which "
                   "restores it on every path, after an exception too",
                   {fault::kState, ""}};
  }
  if (!call.outcome.left_error.empty()) {
    const AcceleratorWords words = accelerator(key.device).words();
    return Finding{
        fmt::format("no error of {} is left for the next operator", device_title(key.device)),
        fmt::format("the call returns, and {} then says: {}", words.last_error, call.outcome.left_error),
        fmt::format("a launch fails and no code asks: put {} behind each one, and launch nothing if there "
                    "is nothing to do, because no grid has 0 blocks",
                    words.launch_check)};
  }
  if (call.drew_random_numbers && !key.spec->promised(Promise::nondeterministic_seeded)) {
    return Finding{"no random numbers are drawn from the default generator",
                   "the call changes the state of the default generator",
                   "promise it with spec.promises({nondeterministic_seeded}) and tag the operator "
                   "nondeterministic_seeded, or take a Generator argument",
                   {fault::kRandom, ""}};
  }
  return std::nullopt;
}

Judgement judge(CallUnderTest& under_test) {
  auto finding = changed_state(under_test.observed(), under_test.key());
  const Observation* with_gradients = finding ? nullptr : under_test.observed_with_gradients();
  if (with_gradients != nullptr) {
    finding = changed_state(*with_gradients, under_test.key());
    if (finding) finding->promised += ", also where inputs require gradients";
  }
  if (finding) return Judgement::fail(*std::move(finding));
  if (auto refused = refused_sample(under_test)) return *std::move(refused);
  if (draws_without_advancing(under_test)) {
    return Judgement::note(
        "the result depends on the seed of the default generator, and the call does not advance the "
        "generator: two calls in a row draw the same numbers. Draw under the generator's mutex with "
        "functions "
        "that advance it: random() or random64() on the CPU, philox_cuda_state() with as many values as a "
        "thread draws on CUDA");
  }
  if (claims_to_draw(under_test)) {
    return Judgement::note(
        "the operator is tagged or promised nondeterministic_seeded, and its calls draw nothing from the "
        "default generator: they give the same for every seed, or a generator of their own decides");
  }
  return Judgement::pass();
}

OPGATE_REGISTER_CHECK(effect_state, {.name = "effect.state",
                                     .scope = {.variants = Scope::Variants::every},
                                     .quick = true,
                                     .judge = &judge});

}  // namespace
}  // namespace opgate::effect_state
