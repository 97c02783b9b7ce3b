// run.limits: sizes at which launches meet the limits of devices are computed, or refused by an exception. So
// is a call whose launch the device refuses for another reason.
#include <ATen/ATen.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "base/text.h"
#include "call/meta_call.h"
#include "device/accelerator.h"
#include "inputs/larger_samples.h"
#include "judging/calls/size_budget.h"
#include "judging/check.h"
#include "judging/comparison/cpu_kernel.h"
#include "judging/comparison/output_judgement.h"
#include "judging/fault.h"
#include "judging/refusals/refused_launch.h"
#include "process/cpu_time.h"
#include "spec/schema/function_name.h"
#include "spec/spec.h"

namespace opgate::run_limits {
namespace {

struct Limit {
  int64_t allowed;
  std::string_view what;
};

// What devices allow. 48 KiB hold 12288 elements of Float and 6144 of Double.
constexpr std::array<Limit, 4> kLimits = {{
    {1024, "a block has at most 1024 threads"},
    {6144, "a block has 48 KiB of shared memory, unless the kernel asks for more"},
    {12288, "a block has 48 KiB of shared memory, unless the kernel asks for more"},
    {65535, "a grid has at most 65535 blocks in y and in z"},
}};
// Tries the first size above the limit. An operator that works in pairs, vectors or tiles may refuse it: then
// the first such size that is a multiple of 2, and so on.
constexpr std::array<int64_t, 4> kMultiples{1, 2, 8, 512};

int64_t first_above(int64_t allowed, int64_t multiple) { return (allowed / multiple + 1) * multiple; }

constexpr int64_t kMostElements = int64_t{1} << 18;
constexpr double kMostSeconds = 30;  // of processors, for the calls of one case

// What no rounding explains, whatever the accuracy is.
constexpr double kFarOff = 1e-2;

bool is_far_off(const at::Tensor& got, const at::Tensor& want) {
  if (!got.defined() || !want.defined()) return got.defined() != want.defined();
  if (got.sizes() != want.sizes()) return true;
  if (got.numel() == 0) return false;
  const auto numbers = [](const at::Tensor& tensor) {
    return (tensor.is_complex() ? at::view_as_real(tensor) : tensor).cpu().to(at::kDouble);
  };
  const at::Tensor a = numbers(got), b = numbers(want);
  const at::Tensor finite = b.isfinite();
  const at::Tensor largest = at::where(finite, b, at::zeros_like(b)).abs().max();
  const at::Tensor near = (a - b).abs().le(largest * kFarOff);
  return at::logical_and(finite, near.logical_not()).any().item<bool>();
}

// The position of the first result that is far off.
std::optional<size_t> first_far_off(const CallUnderTest& call, const Outcome& outcome, const Outcome& right) {
  const std::vector<at::Tensor> got = outcome.values();
  const std::vector<at::Tensor> want = expected_values(right, outcome);
  const std::set<size_t> unspecified = outcome.tensors_of(call.key().spec->unspecified);
  for (size_t i = 0; i < got.size() && i < want.size(); ++i)
    if (!unspecified.contains(i) && is_far_off(got[i], want[i])) return i;
  return std::nullopt;
}

// What the operator should return: the reference's results, or those of its own kernel for the CPU. None if
// nothing is known.
std::optional<Outcome> right_results(CallUnderTest& call) {
  if (call.key().spec->reference == nullptr) return call_of_cpu_kernel(call.key(), call.cache().values);
  if (!call.reference().ok()) return std::nullopt;
  return call.reference();
}

int64_t elements_of(const Arguments& arguments) {
  int64_t elements = 0;
  for (const TensorInput& input : arguments.tensors) elements += input.tensor.numel();
  return elements;
}

// The product of a long column and a long row would take minutes. Without a fake kernel this is not
// known. A function has none: many take whatever is not on CUDA for memory of the host.
bool has_large_results(const Spec& spec, const c10::OperatorHandle& op, const Arguments& arguments) {
  if (is_function(spec.name)) return false;
  const Outcome fake = call_on_meta(op, arguments);
  if (!fake.ok()) return false;
  int64_t elements = 0;
  for (const at::Tensor& tensor : fake.values())
    if (tensor.defined()) elements += tensor.numel();
  return elements > kMostElements;
}

// An operator may refuse any size, and one that asks for the error of a launch does so. The note is for the
// caller, who learns from "invalid configuration argument" neither which argument it was nor what would be
// accepted.
Judgement note_of_refused_launch(const std::string& promised, const Sample& sample, const Limit& limit,
                                 const std::string& message) {
  return Judgement::note(
      {promised,
       fmt::format("{}: a launch is refused, and so is the call: {}", sample.name, first_line(message)),
       fmt::format("{}; check the sizes before the launch, and name the argument and the limit",
                   limit.what)});
}

struct Answer {
  bool is_refused = false;
  Judgement judgement = Judgement::pass();
};

// Passes if the operator refuses the sizes, or if nothing is known about the right result.
Answer judge_size(CallUnderTest& under_test, const Sample& sample, double growth, const Limit& limit) {
  CallKey key = under_test.key();
  key.sample = &sample;
  WorkerCache cache = under_test.cache().with_values_of_its_own();
  CallUnderTest larger(key, cache);
  const std::string promised =
      "sizes at which a launch meets a limit of the device are computed, or refused by an exception";
  const Arguments arguments = materialize(key, cache.values, {.take_snapshots = false});
  if (has_large_results(*key.spec, larger.op(), arguments)) return {};
  const Outcome outcome = call_on(key, arguments.stack);
  const Accelerator& device = accelerator(key.device);
  if (!outcome.ok()) {
    const std::string& message = outcome.raised->message;
    if (!device.is_error_of_runtime(message)) return {.is_refused = true};
    return {true, note_of_refused_launch(promised, sample, limit, message)};
  }
  if (!outcome.left_error.empty()) {
    return {false, Judgement::fail({promised,
                                    fmt::format("{}: {} then says: {}", sample.name,
                                                device.words().last_error, outcome.left_error),
                                    std::string(limit.what)})};
  }
  const std::optional<Outcome> right = right_results(larger);
  if (!right) return {};
  growth = std::max(
      growth, static_cast<double>(elements_of(arguments)) /
                  static_cast<double>(std::max<int64_t>(elements_of(under_test.observed().arguments), 1)));
  const auto far_off = first_far_off(larger, outcome, *right);
  Judgement judgement = judge_longer_sums(larger, outcome, *right, growth, promised);
  if (!far_off && !judgement.finding) return {};
  const std::string wrong =
      far_off ? fmt::format("result {} is not", *far_off) : judgement.finding->happened + ", which is not";
  const std::string_view other = key.spec->reference != nullptr ? "the reference" : "its kernel for the CPU";
  Fault fault{fault::kValues, ""};
  if (key.spec->reference == nullptr)
    fault.cause = "for larger sizes it returns other values than its kernel for the CPU";
  return {
      false,
      Judgement::fail(
          {promised,
           fmt::format("{}: {} what {} returns, by more than rounding explains", sample.name, wrong, other),
           fmt::format("what lies beyond a limit is left out or written twice; {}", limit.what),
           std::move(fault)})};
}

// Fails at the first size that the operator gets wrong, or notes the first launch that it refuses.
Judgement judge_limit(CallUnderTest& under_test, const Limit& limit, SizeBudget& budget) {
  const CallKey& key = under_test.key();
  Judgement so_far = Judgement::pass();
  std::set<int64_t> taken;  // the sizes of the sample for which the operator has taken a size above the limit
  int64_t before = 0;
  for (const int64_t multiple : kMultiples) {
    const int64_t size = first_above(limit.allowed, multiple);
    if (std::exchange(before, size) == size) continue;
    for (const auto& [present, sample] : samples_with_size(*key.spec, *key.sample, size, kMostElements)) {
      if (taken.contains(present) || !budget.allows(present, size)) continue;
      const double growth = static_cast<double>(size) / static_cast<double>(present);
      const double begin = cpu_seconds();
      Answer answer = judge_size(under_test, sample, growth, limit);
      budget.add(present, size, cpu_seconds() - begin);
      if (answer.judgement.verdict != Verdict::pass) return answer.judgement;
      if (!answer.is_refused) taken.insert(present);
      if (answer.judgement.finding && !so_far.finding) so_far = std::move(answer.judgement);
    }
  }
  return so_far;
}

// An answer about the sizes that were left out is owed, unless something else was found.
Judgement with_left_out(Judgement found, const std::set<int64_t>& left_out) {
  if (left_out.empty()) return found;
  std::string text = fmt::format(
      "not asked: sizes of {}, because calls take ever longer, as where a kernel is compiled for each size",
      fmt::join(left_out, ", "));
  if (!found.finding) return Judgement::owed(std::move(text));
  found.finding->detail.push_back(std::move(text));
  return found;
}

Judgement judge(CallUnderTest& under_test) {
  if (auto refused = refused_sample(under_test)) return *std::move(refused);
  const CallKey& key = under_test.key();
  // What is wrong with the sample as it is, is the matter of value.reference.
  if (key.spec->reference != nullptr && judge_against_reference(under_test).finding) return Judgement::pass();
  // The sample's own sizes come first: what a call with them has compiled is there.
  const Judgement refused = judge_refused_launches(under_test);
  if (refused.verdict != Verdict::pass) return refused;
  Judgement so_far = Judgement::pass();
  SizeBudget budget(kMostSeconds);
  for (const Limit& limit : kLimits) {
    Judgement judgement = judge_limit(under_test, limit, budget);
    if (judgement.verdict != Verdict::pass) return judgement;
    if (judgement.finding && !so_far.finding) so_far = std::move(judgement);
  }
  return with_left_out(so_far.finding ? std::move(so_far) : refused, budget.left_out());
}

OPGATE_REGISTER_CHECK(run_limits, {.name = "run.limits",
                                   .scope = {.variants = Scope::Variants::contiguous,
                                             .dtypes = Scope::Dtypes::first,
                                             .device = Scope::Device::simulated},
                                   .judge = &judge});

}  // namespace
}  // namespace opgate::run_limits
