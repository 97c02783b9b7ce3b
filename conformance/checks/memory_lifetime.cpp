// memory.lifetime: results outlive the arguments, are not a workspace that later calls reuse, and follow
// from the present contents of the arguments.
#include <fmt/format.h>

#include <algorithm>

#include "judging/check.h"
#include "judging/comparison/output_judgement.h"
#include "judging/fault.h"
#include "layouts/geometry.h"
#include "spec/spec.h"

namespace opgate::memory_lifetime {
namespace {

std::vector<at::Tensor> copies(const std::vector<at::Tensor>& tensors) {
  std::vector<at::Tensor> all;
  for (const at::Tensor& tensor : tensors) all.push_back(tensor.defined() ? tensor.clone() : tensor);
  return all;
}

// A finding where the outputs are no longer what they were before something else happened.
std::optional<Finding> changed(const std::vector<at::Tensor>& outputs, const std::vector<at::Tensor>& before,
                               std::string promised, std::string_view when, std::string likely,
                               std::string_view fault) {
  auto finding = judge_values(outputs, before, {}, promised).finding;
  if (!finding) return std::nullopt;
  finding->happened = fmt::format("{}: {}", when, finding->happened);
  finding->likely = std::move(likely);
  finding->fault.kind = fault;
  return finding;
}

std::optional<Finding> outlives_arguments(CallUnderTest& under_test) {
  Observation call = observe(under_test.key(), under_test.cache().values, {.take_snapshots = false});
  const std::vector<at::Tensor> outputs = call.outcome.returned();
  const std::vector<at::Tensor> before = copies(outputs);
  call = {};  // frees the arguments: the guard poisons their memory where no output owns it
  return changed(outputs, before, "an output owns the memory that it lies in",
                 "once the arguments were freed the output changed",
                 "the output is made with from_blob, or otherwise points into memory that it does not own: "
                 "the memory of an argument or of a temporary tensor",
                 fault::kDangling);
}

std::optional<Finding> is_no_workspace(CallUnderTest& under_test) {
  const CallKey& key = under_test.key();
  const Observation first = observe(key, under_test.cache().values, {.take_snapshots = false});
  const std::vector<at::Tensor> outputs = first.outcome.returned();
  const std::vector<at::Tensor> before = copies(outputs);
  const Observation second =
      observe(key, under_test.cache().values, {.value_seed = kOtherValues, .take_snapshots = false});
  return changed(outputs, before, "an output stays as it is when the operator is called again",
                 "a second call with other values changed the output of the first",
                 "the output is a static or cached buffer that every call reuses; allocate it in each call",
                 fault::kKept);
}

// The tolerance of every element, in ulps of the largest one. The spec promises its accuracy for the
// sample's values and not for these, for which small results may be less accurate. Stale results are
// further away.
constexpr double kRoundingUlps = 64;

Judgement judge_by_largest(CallUnderTest& under_test, const Outcome& call, const std::string& promised,
                           const MaterializeOptions& options) {
  const Spec& spec = *under_test.key().spec;
  if (spec.accuracy->exact || spec.accuracy->by_inputs)
    return judge_near_reference(under_test, call, promised, options);
  Agreement agreement{spec.accuracy_for(under_test.key().dtype).scaled_by_inputs(), Rounding::to_output,
                      call.tensors_of(spec.unspecified)};
  agreement.accuracy.ulps = std::max(kRoundingUlps, agreement.accuracy.ulps);
  const std::vector<at::Tensor> expected = expected_values(under_test.reference(options), call);
  agreement.scales = largest_of_each(expected);
  return judge_values(call.values(), expected, agreement, promised);
}

// Compares a call on the same tensors with new contents with a call on fresh tensors with these contents.
Judgement sees_new_contents(CallUnderTest& under_test) {
  const CallKey& key = under_test.key();
  const MaterializeOptions other{.value_seed = kOtherValues, .take_snapshots = false};
  Arguments reused = materialize(key, under_test.cache().values, {.take_snapshots = false});
  static_cast<void>(call_on(key, reused.stack));
  Arguments fresh = materialize(key, under_test.cache().values, other);
  const Arguments contents = materialize(key, under_test.cache().values, other);
  reused.stack = contents.stack;  // generators must start anew, too
  for (size_t i = 0; i < reused.tensors.size(); ++i) {
    const TensorInput& input = reused.tensors[i];
    if (input.tensor.sizes() != input.geometry.sizes) {
      if (may_change_metadata(*key.spec, input)) return Judgement::pass();
      return Judgement::fail({"the arguments can be used again after the call",
                              fmt::format("`{}` has shape {} after the call, not {}", input.name,
                                          index_text(input.tensor.sizes()), index_text(input.geometry.sizes)),
                              "the kernel calls t_() or resize_() on its argument; work on a view of it",
                              {fault::kMutation, input.name}});
    }
    input.tensor.copy_(contents.tensors[i].tensor);
    reused.replace(input, input.tensor);
  }
  const Outcome again = call_on(key, reused.stack);
  const Outcome want = call_on(key, fresh.stack);
  const std::string promised = "the result follows from the present contents of the arguments";
  if (again.ok() != want.ok()) {
    return Judgement::fail(
        {promised,
         fmt::format("tensors that hold new values {}, and fresh tensors with the same values {}",
                     again.ok() ? "are accepted" : "are refused: " + again.raised->message,
                     want.ok() ? "are accepted" : "are refused: " + want.raised->message),
         "the operator remembers something about the arguments of an earlier call",
         {fault::kKept, ""}});
  }
  Judgement judgement = judge_same(under_test, again, want, key.spec->accuracy->exact, promised, other);
  std::string likely =
      "a result, or something computed from an argument, is cached by the argument's address";
  // Something that is cached by shape, or once for all calls, is stale for fresh tensors too: only the
  // reference shows it.
  const bool right_so_far =
      key.spec->reference != nullptr && judge_against_reference(under_test).verdict == Verdict::pass;
  if (!judgement.finding && again.ok() && right_so_far && under_test.reference(other).ok()) {
    judgement = judge_by_largest(under_test, again, promised, other);
    likely =
        "something computed from an argument of an earlier call is cached by shape, or once for all calls";
  }
  if (judgement.finding) {
    judgement.finding->happened =
        "after new values were written into the same tensors: " + judgement.finding->happened;
    judgement.finding->likely = std::move(likely);
    judgement.finding->fault.kind = fault::kKept;
  }
  return judgement;
}

Judgement judge(CallUnderTest& under_test) {
  if (auto refused = refused_sample(under_test)) return *std::move(refused);
  if (auto finding = outlives_arguments(under_test)) return Judgement::fail(*std::move(finding));
  if (auto finding = is_no_workspace(under_test)) return Judgement::fail(*std::move(finding));
  return sees_new_contents(under_test);
}

OPGATE_REGISTER_CHECK(memory_lifetime,
                      {.name = "memory.lifetime",
                       .scope = {.variants = Scope::Variants::contiguous, .dtypes = Scope::Dtypes::first},
                       .judge = &judge});

}  // namespace
}  // namespace opgate::memory_lifetime
