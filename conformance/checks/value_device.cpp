// value.device: the CPU and an accelerator agree within the promised accuracy.
#include <ATen/ops/equal.h>
#include <fmt/format.h>

#include <functional>
#include <set>

#include "call/observation.h"
#include "device/device.h"
#include "inputs/bad_inputs.h"
#include "judging/check.h"
#include "judging/comparison/cpu_kernel.h"
#include "judging/comparison/output_judgement.h"
#include "spec/spec.h"

namespace opgate::value_device {
namespace {

// The results whose values need not agree. Each device draws random numbers of its own, so an operator that
// draws them has no others.
std::set<size_t> unspecified(const Spec& spec, const Outcome& call) {
  std::set<size_t> which = call.tensors_of(spec.unspecified);
  const size_t tensors = call.values().size();
  for (size_t i = 0; spec.promised(Promise::nondeterministic_seeded) && i < tensors; ++i) which.insert(i);
  return which;
}

// Both kernels on arguments whose floating tensors `change` has replaced; none if one of them refuses these.
std::optional<std::pair<Outcome, Outcome>> on_both(
    CallUnderTest& under_test, const std::function<at::Tensor(const at::Tensor&)>& change) {
  std::vector<Outcome> outcomes;
  for (const CallKey& key : {under_test.key(), on_cpu(under_test.key())}) {
    Arguments arguments = materialize(key, under_test.cache().values, {.take_snapshots = false});
    for (const TensorInput& input : arguments.tensors) {
      if (input.tensor.is_floating_point() && input.tensor.numel() > 0)
        arguments.replace(input, change(input.tensor));
    }
    outcomes.push_back(call_on(key, arguments.stack));
    if (!outcomes.back().ok()) return std::nullopt;
  }
  return std::pair(std::move(outcomes[0]), std::move(outcomes[1]));
}

// Multiples of 1/2 within the range of the tensor: where ties are rounded, and where borders lie, corner
// cases drift apart.
at::Tensor rounded_to_halves(const at::Tensor& tensor) {
  const at::Tensor wide = tensor.to(at::kDouble);  // some dtypes, of 8 bits, have no arithmetic
  return wide.mul(2).round().div(2).clamp(wide.min(), wide.max()).to(tensor.scalar_type());
}

// Compares only where NaNs are: no promise covers which of NaN and infinity wins.
std::optional<std::string> other_nans(const Outcome& got, const Outcome& want,
                                      const std::set<size_t>& unspecified) {
  const std::vector<at::Tensor> mine = got.values(), theirs = want.values();
  for (size_t i = 0; i < mine.size() && i < theirs.size(); ++i) {
    if (unspecified.contains(i) || !mine[i].defined() || !theirs[i].defined()) continue;
    if (!mine[i].is_floating_point() || mine[i].sizes() != theirs[i].sizes()) continue;
    const int64_t here = mine[i].isnan().sum().item<int64_t>(),
                  there = theirs[i].isnan().sum().item<int64_t>();
    if (!at::equal(mine[i].isnan().cpu(), theirs[i].isnan().cpu()))
      return fmt::format("{} of {} elements of result {} are NaN, and on the CPU {}", here, mine[i].numel(),
                         i, there);
  }
  return std::nullopt;
}

// A draft has no reference that value.special could ask, but the operator's other kernel says what a NaN
// should do.
std::optional<Finding> judge_nan(CallUnderTest& under_test, const std::string& device) {
  const CallKey& key = under_test.key();
  for (const BadInput& bad : bad_inputs(*key.spec, *key.sample)) {
    if (bad.kind != BadInput::Kind::special || bad.damage.value != "nan") continue;
    if (bad.accepts_dtype != nullptr && !bad.accepts_dtype(key.dtype)) continue;
    CallKey damaged = key;
    damaged.variant = variant_of(bad.damage);
    const Outcome got = observe(damaged, under_test.cache().values, {.take_snapshots = false}).outcome;
    const std::optional<Outcome> want = call_of_cpu_kernel(damaged, under_test.cache().values);
    if (!got.ok() || !want) continue;
    if (auto difference = other_nans(got, *want, unspecified(*key.spec, got)))
      return Finding{fmt::format("where {}, {} and the CPU return a NaN in the same places",
                                 in_words(bad.damage), device),
                     *std::move(difference),
                     "one of the kernels takes a maximum or minimum that drops a NaN (fmaxf, std::max)"};
  }
  return std::nullopt;
}

// Two kernels may round a product otherwise, and then a tie is none: which of them is right, only the author
// knows.
std::optional<Finding> judge_halves(CallUnderTest& under_test, const std::string& device) {
  const auto both = on_both(under_test, &rounded_to_halves);
  if (!both) return std::nullopt;
  Judgement judgement = judge_near_each_other(
      under_test.key(), both->first, both->second,
      fmt::format("{} and the CPU agree for floating values that are multiples of 1/2", device));
  if (judgement.finding)
    judgement.finding->likely =
        "ties are rounded otherwise (round, rint, truncation), or a border belongs to another side";
  return judgement.finding;
}

// The operator's kernel for the CPU is the only reference of a draft.
Judgement judge_draft(CallUnderTest& under_test, const std::string& device) {
  const CallKey& key = under_test.key();
  const auto want = call_of_cpu_kernel(key, under_test.cache().values);
  if (!want) return Judgement::pass();
  const Outcome& got = under_test.observed().outcome;
  const std::string promised =
      key.spec->replaces_kernel()
          ? fmt::format("the kernel at {} returns what torch's own kernel returns on the CPU",
                        key.spec->replaced_at)
          : fmt::format("{} and the CPU agree within the promised accuracy", device);
  const bool is_random = key.spec->promised(Promise::nondeterministic_seeded);
  Judgement judgement =
      is_random ? judge_shapes(got, *want, promised) : judge_near_each_other(key, got, *want, promised);
  if (judgement.finding) return judgement;
  if (is_random || key.sample != &key.spec->samples.front()) return judgement;
  if (auto finding = judge_nan(under_test, device)) return Judgement::fail(*std::move(finding));
  if (auto finding = judge_halves(under_test, device)) return Judgement::note(*std::move(finding));
  return judgement;
}

Judgement judge(CallUnderTest& under_test) {
  const Spec& spec = *under_test.key().spec;
  if (has_cpu_kernel_as_reference(spec)) {
    if (auto refused = refused_sample(under_test)) return *std::move(refused);
    return judge_draft(under_test, device_title(under_test.key().device));
  }
  CallUnderTest cpu(on_cpu(under_test.key()), under_test.cache());
  for (CallUnderTest* each : {&under_test, &cpu}) {
    if (auto refused = refused_sample(*each)) return *std::move(refused);
  }
  const std::string device = device_title(under_test.key().device);
  Judgement judgement = judge_values(under_test.observed().outcome.values(), cpu.observed().outcome.values(),
                                     {.unspecified = unspecified(spec, under_test.observed().outcome)},
                                     fmt::format("the same bits on {} as on the CPU", device));
  if (!judgement.finding || spec.accuracy->exact) return judgement;
  if (spec.reference == nullptr) {
    return judge_near_each_other(under_test.key(), under_test.observed().outcome, cpu.observed().outcome,
                                 fmt::format("{} and the CPU agree within the promised accuracy", device));
  }
  // The bits differ and are not promised, so each result must be within the accuracy of the reference.
  for (CallUnderTest* each : {&under_test, &cpu}) {
    judgement = judge_against_reference(*each);
    if (!judgement.finding) continue;
    judgement.finding->promised =
        fmt::format("{} and the CPU agree, both within the promised accuracy of the reference", device);
    judgement.finding->happened =
        fmt::format("on {}: {}", each == &cpu ? "the CPU" : device, judgement.finding->happened);
    break;
  }
  return judgement;
}

OPGATE_REGISTER_CHECK(value_device, {.name = "value.device",
                                     .scope = {.variants = Scope::Variants::contiguous,
                                               .device = Scope::Device::accelerator,
                                               .on_cpu_too = true},
                                     .judge = &judge});

}  // namespace
}  // namespace opgate::value_device
