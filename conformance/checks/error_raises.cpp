// error.raises: a bad input raises an exception, and leaves everything as it was.
//
// An input that the spec rejects must raise an exception that says why. An input that the engine damages by
// itself may be legal after all: broadcasting is, and so is an eps of 0. For such an input the reference
// decides, on the same damaged input: the operator may raise, or return what the reference returns. For a
// draft without a reference, the check only demands that what the operator returns does not depend on memory
// outside its arguments. Where a draft only assumes that callers answer for an index, harm is a note.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "call/observation.h"
#include "inputs/bad_inputs.h"
#include "judging/check.h"
#include "judging/comparison/cpu_kernel.h"
#include "judging/comparison/memory_judgement.h"
#include "judging/comparison/output_judgement.h"
#include "judging/fault.h"
#include "judging/refusals/accepted_bad_input.h"
#include "judging/refusals/assumed_index.h"
#include "layouts/geometry.h"
#include "process/libraries/replaced_kernels.h"
#include "spec/spec.h"

namespace opgate::error_raises {
namespace {

bool is_of_type(const Raised& raised, const std::string& type) {
  return std::ranges::find(raised.types, type) != raised.types.end();
}

// "ValueError: x must be ..."; the message of an exception in Python begins so.
std::string with_type(const Raised& raised) {
  const std::string begin = raised.types.front() + ": ";
  return raised.message.starts_with(begin) ? raised.message : begin + raised.message;
}

Judgement judge_rejection(const Rejection& rejection, const Outcome& call, bool draft) {
  const std::string promised =
      fmt::format("`{}` raises{}{} ({})", rejection.sample.name,
                  rejection.type.empty() ? "" : fmt::format(" {}", rejection.type),
                  rejection.because.empty() ? "" : fmt::format(", and says \"{}\"", rejection.because),
                  rejection.sample.where);
  // Nobody has promised it: the operator may have learnt to take it since it was recorded.
  if (call.ok() && draft) {
    return Judgement::note(
        {fmt::format("`{}` raises ({})", rejection.sample.name, rejection.sample.where),
         fmt::format("`{}` raised when it was recorded, and is accepted now", rejection.sample.name),
         "a check is gone; where it takes these arguments on purpose, record again with --anew",
         {fault::kUnchecked, ""}});
  }
  if (call.ok()) {
    return Judgement::fail({promised,
                            "the operator accepts it and returns a result",
                            "the kernel does not check for it",
                            {fault::kUnchecked, ""}});
  }
  const std::string& message = call.raised->message;
  if (!contains_ignoring_case(message, rejection.because))
    return Judgement::fail({promised, "raised: " + message, "another check refuses the call first"});
  if (rejection.type.empty() || is_of_type(*call.raised, rejection.type)) return Judgement::pass();
  return Judgement::fail({promised, "raised " + with_type(*call.raised),
                          "a caller that catches the promised type does not catch this one; in C++, "
                          "TORCH_CHECK raises RuntimeError, TORCH_CHECK_VALUE ValueError and "
                          "TORCH_CHECK_INDEX IndexError"});
}

// A kernel finds an index that is out of range only when it reaches it, so what it has written by then to
// an argument that it may write is no finding (aten::scatter_add_ does so). Everything else can be known
// before the first write.
bool may_have_written(const Spec& spec, const TensorInput& input, const Outcome& call) {
  if (!is_mutable(spec, input.position)) return false;
  return call.ok() || contains_ignoring_case(call.raised->message, "out of range") ||
         contains_ignoring_case(call.raised->message, "out of bounds");
}

std::optional<Finding> written_input(const Spec& spec, const Observation& call) {
  const std::string promised = "inputs are unchanged, bit for bit, after an exception";
  for (const TensorInput& input : call.arguments.tensors) {
    if (may_have_written(spec, input, call.outcome) || is_resizable_out(spec, input)) continue;
    const at::Tensor& x = input.tensor;
    if (x.sizes() != input.geometry.sizes || x.strides() != input.geometry.strides) {
      return Finding{promised,
                     fmt::format("`{}` has shape {} after the call, not {}", input.name,
                                 index_text(x.sizes()), index_text(input.geometry.sizes)),
                     "the kernel resizes it before it checks the arguments",
                     {fault::kMutation, input.name}};
    }
    if (unchanged(x, input.before)) continue;
    const StorageSnapshot after = storage_snapshot(x);
    const auto [was, is] = std::ranges::mismatch(input.before, after);
    const auto element = (was - input.before.begin()) / static_cast<std::ptrdiff_t>(x.element_size());
    return Finding{promised,
                   fmt::format("`{}` was written, the first in {}{}", input.name,
                               describe_element(input.geometry, element, input.name),
                               call.outcome.ok() ? "" : "; then it raised: " + call.outcome.raised->message),
                   "the kernel writes before it has checked all arguments",
                   {fault::kMutation, input.name}};
  }
  return std::nullopt;
}

// Torch's own kernels take numbers without dims that lie on the CPU.
bool takes_numbers_of_the_host(CallUnderTest& under_test) {
  const std::vector<TensorInput>& inputs = under_test.observed().arguments.tensors;
  const bool are_numbers = std::ranges::all_of(
      inputs, [](const TensorInput& input) { return !input.tensor.is_cpu() || input.tensor.dim() == 0; });
  if (!are_numbers) return false;
  const KernelScope scope(Purpose::call_of_torch);
  return observe(under_test.key(), under_test.cache().values, {.take_snapshots = false}).outcome.ok();
}

// Callers catch the types that PyTorch documents; a RuntimeError says less, and may be any other error.
std::optional<Judgement> other_refusal_than_torch(CallUnderTest& under_test, bool must_be_taken) {
  const Outcome& call = under_test.observed().outcome;
  const Outcome torch = outcome_of_cpu_kernel(under_test.key(), under_test.cache().values);
  if (torch.ok() && !must_be_taken) return std::nullopt;
  if (torch.ok()) return refusal_beside_torch(under_test.key(), call, under_test.cache().values);
  const std::string& type = torch.raised->types.front();
  const bool documented = type == "IndexError" || type == "ValueError" || type == "TypeError";
  if (!documented || is_of_type(*call.raised, type)) return std::nullopt;
  return Judgement::fail(
      {fmt::format("the kernel raises {}, as the kernel of torch does that it replaces", type),
       "raised " + with_type(*call.raised),
       "a caller that catches the type that PyTorch raises does not catch this one"});
}

// What torch's own kernel makes of the same call: it promotes dtypes and broadcasts. The kernel that replaces
// it must do so, too.
std::optional<Judgement> failure_beside_torch(CallUnderTest& under_test, BadInput::Kind kind) {
  const Outcome& call = under_test.observed().outcome;
  const bool decides =
      kind == BadInput::Kind::dtype || kind == BadInput::Kind::shape || kind == BadInput::Kind::absent ||
      (kind == BadInput::Kind::device && !call.ok() && takes_numbers_of_the_host(under_test));
  if (!call.ok()) return other_refusal_than_torch(under_test, decides);
  if (!decides) return std::nullopt;
  const auto want = call_of_cpu_kernel(under_test.key(), under_test.cache().values);
  if (!want) return std::nullopt;
  Judgement judgement = judge_near_each_other(under_test.key(), call, *want,
                                              "the kernel returns what torch's own returns on the CPU");
  if (!judgement.finding) return std::nullopt;
  return judgement;
}

Judgement judge_next_call(const CallKey& key, WorkerCache& cache, const Outcome& good) {
  const std::string promised = "the next good call works, and returns what it returned before the bad one";
  const Outcome next = observe(key, cache.values, {.take_snapshots = false}).outcome;
  const std::string likely = "the bad call left something behind: a lock, a cache, a half-built workspace";
  if (!next.ok())
    return Judgement::fail(
        {promised, "the sample itself now raises: " + next.raised->message, likely, {fault::kKept, ""}});
  Judgement same = key.spec->reference == nullptr ? judge_near_each_other(key, next, good, promised)
                                                  : judge_values(next.values(), good.values(),
                                                                 {key.spec->accuracy_for(key.dtype),
                                                                  Rounding::none,
                                                                  next.tensors_of(key.spec->unspecified),
                                                                  {}},
                                                                 promised);
  if (same.finding) {
    same.finding->likely = likely;
    same.finding->fault.kind = fault::kKept;
  }
  return same;
}

Judgement judge(CallUnderTest& under_test) {
  const CallKey& key = under_test.key();
  const Spec& spec = *key.spec;
  const Rejection* rejection = spec.find_rejection(*key.sample);
  CallKey good_key = key;
  good_key.variant = kContiguous;
  if (rejection != nullptr) good_key.sample = &spec.samples.front();
  const Outcome good = observe(good_key, under_test.cache().values, {.take_snapshots = false}).outcome;
  if (!good.ok()) return refusal_of_sample(good_key, good, under_test.cache().values);

  const Observation& call = under_test.observed();
  std::optional<BadInput> bad;
  if (rejection == nullptr) bad = find_bad_input(key);
  if (bad && bad->assumed) {
    if (auto harm = harm_of_assumed_index(under_test, *bad)) return *std::move(harm);
    const Judgement next = judge_next_call(good_key, under_test.cache(), good);
    return next.finding ? unchecked_index(*bad, next.finding->happened) : next;
  }
  if (!call.damage.empty()) return Judgement::fail(describe_damage(call.damage.front(), call.arguments));
  if (bad && spec.replaces_kernel()) {
    if (auto failure = failure_beside_torch(under_test, bad->kind)) return *std::move(failure);
  }
  Judgement answer = rejection != nullptr ? judge_rejection(*rejection, call.outcome, spec.draft)
                     : call.outcome.ok()  ? judge_accepted(under_test, *bad, good)
                                          : Judgement::pass();
  if (answer.verdict != Verdict::pass || answer.finding) return answer;
  if (!call.state_changes.empty()) {
    return Judgement::fail(
        {"the process and the thread are as before, after an exception",
         call.state_changes.front(),
         "a setting is restored at the end of the function, which an exception skips; use a guard object",
         {fault::kState, ""},
         call.state_changes});
  }
  if (auto finding = written_input(spec, call)) return Judgement::fail(*std::move(finding));
  return judge_next_call(good_key, under_test.cache(), good);
}

OPGATE_REGISTER_CHECK(error_raises,
                      {.name = "error.raises",
                       .scope = {.variants = Scope::Variants::bad, .dtypes = Scope::Dtypes::first},
                       .quick = true,
                       .revision = 2,
                       .judge = &judge});

}  // namespace
}  // namespace opgate::error_raises
