// memory.lifetime: results outlive arguments, are nobody's workspace, and are of the present contents.
#include <fmt/format.h>

#include <algorithm>

#include "checks/check.h"
#include "checks/outputs.h"
#include "layouts/geometry.h"

namespace opgate::memory_lifetime {
namespace {

constexpr uint64_t kOtherValues = 1;

std::vector<at::Tensor> copies(const std::vector<at::Tensor>& tensors) {
  std::vector<at::Tensor> all;
  for (const at::Tensor& tensor : tensors) all.push_back(tensor.clone());
  return all;
}

// The outputs after something else happened, against what they were.
std::optional<Finding> changed(const std::vector<at::Tensor>& outputs, const std::vector<at::Tensor>& before,
                               std::string promised, std::string_view when, std::string likely) {
  auto finding = judge_values(outputs, before, {.promised = promised}).finding;
  if (!finding) return std::nullopt;
  finding->happened = fmt::format("{}: {}", when, finding->happened);
  finding->likely = std::move(likely);
  return finding;
}

std::optional<Finding> outlives_arguments(Evidence& evidence) {
  Observation call = observe(evidence.key(), evidence.bench().values, {.photographed = false});
  const std::vector<at::Tensor> outputs = call.outcome.returned();
  const std::vector<at::Tensor> before = copies(outputs);
  call = {};  // the arguments' memory is poisoned as it is freed, where no output owns it
  return changed(outputs, before, "an output owns the memory that it lies in",
                 "once the arguments were freed the output changed",
                 "the output is made with from_blob, or otherwise points into memory that it does not own: "
                 "an argument's, or that of a temporary tensor");
}

std::optional<Finding> is_no_workspace(Evidence& evidence) {
  const CallKey& key = evidence.key();
  const Observation first = observe(key, evidence.bench().values, {.photographed = false});
  const std::vector<at::Tensor> outputs = first.outcome.returned();
  const std::vector<at::Tensor> before = copies(outputs);
  const Observation second =
      observe(key, evidence.bench().values, {.stream = kOtherValues, .photographed = false});
  return changed(outputs, before, "an output stays as it is when the operator is called again",
                 "a second call with other values changed the output of the first",
                 "the output is a static or cached buffer that every call reuses: allocate it in each call");
}

// What every element may be off by, in ulps of the largest one: these values are not the sample's, and nobody
// knows how near the operator comes to small results of them. What is stale is further away.
constexpr double kRoundingUlps = 64;

Judgement judge_by_largest(Evidence& evidence, const Outcome& call, const std::string& promised,
                           const Making& making) {
  const Spec& spec = *evidence.key().spec;
  if (spec.accuracy->exact || spec.accuracy->by_inputs)
    return judge_near_reference(evidence, call, promised, making);
  Agreement agreement{promised, ulps(std::max(kRoundingUlps, spec.accuracy->ulps)).scaled_by_inputs(),
                      Rounding::to_output, spec.unspecified};
  const std::vector<at::Tensor> expected = expected_values(evidence.reference(making), call);
  agreement.scales = largest_of_each(expected);
  return judge_values(call.values(), expected, agreement);
}

// The same tensors with other contents, against fresh tensors with those contents.
Judgement sees_new_contents(Evidence& evidence) {
  const CallKey& key = evidence.key();
  const Making other{.stream = kOtherValues, .photographed = false};
  Arguments reused = materialise(key, evidence.bench().values, {.photographed = false});
  static_cast<void>(call_on(key, reused.stack));
  Arguments fresh = materialise(key, evidence.bench().values, other);
  const Arguments contents = materialise(key, evidence.bench().values, other);
  reused.stack = contents.stack;  // generators, too, begin anew
  for (size_t i = 0; i < reused.tensors.size(); ++i) {
    const TensorInput& input = reused.tensors[i];
    if (input.tensor.sizes() != input.geometry.sizes) {
      return Judgement::fail({"the arguments can be used again after the call",
                              fmt::format("`{}` has shape {} after it, not {}", input.name,
                                          index_text(input.tensor.sizes()), index_text(input.geometry.sizes)),
                              "the kernel calls t_() or resize_() on its argument: work on a view of it",
                              {}});
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
         fmt::format("tensors that were filled anew {}, fresh ones with the same values {}",
                     again.ok() ? "are accepted" : "are refused: " + again.raised->message,
                     want.ok() ? "are accepted" : "are refused: " + want.raised->message),
         "something about the arguments is remembered from an earlier call",
         {}});
  }
  Judgement judgement = judge_same(evidence, again, want, key.spec->accuracy->exact, promised, other);
  std::string likely = "a result, or something computed from an argument, is cached by its address";
  // What is remembered by shape, or once and for all, is as stale for fresh tensors: only the reference
  // knows.
  const bool right_so_far =
      key.spec->reference != nullptr && judge_against_reference(evidence).verdict == Verdict::pass;
  if (!judgement.finding && again.ok() && right_so_far && evidence.reference(other).ok()) {
    judgement = judge_by_largest(evidence, again, promised, other);
    likely = "something computed from an argument of an earlier call is cached, by its shape or for good";
  }
  if (judgement.finding) {
    judgement.finding->happened =
        "after new values were written into the same tensors: " + judgement.finding->happened;
    judgement.finding->likely = std::move(likely);
  }
  return judgement;
}

Judgement judge(Evidence& evidence) {
  if (auto refused = refused_sample(evidence)) return *std::move(refused);
  if (auto finding = outlives_arguments(evidence)) return Judgement::fail(*std::move(finding));
  if (auto finding = is_no_workspace(evidence)) return Judgement::fail(*std::move(finding));
  return sees_new_contents(evidence);
}

OPGATE_REGISTER_CHECK(
    memory_lifetime,
    {.name = "memory.lifetime",
     .explanation =
         {.promise =
              "Outputs survive their inputs and later calls; results follow from the present contents.",
          .why = "Python frees an argument as soon as nobody names it, and the allocator gives its address "
                 "to the next tensor. A result that points there, or a cache that knows tensors by their "
                 "address, is right in every test that keeps its tensors.",
          .fix = "Return memory that the result owns. Keep no pointer to a temporary: at::Tensor t = "
                 "x.contiguous() has a name, x.contiguous().data_ptr() dangles. Key a cache by contents, or "
                 "do without.",
          .example =
              "vision 2131, vision 3904: pointers into temporaries; preparation steps cached by data_ptr.",
          .wrong = R"(at::Tensor packed(const at::Tensor& weight) {
  static std::map<const void*, at::Tensor> kept;  // an optimizer's step changes no address
  at::Tensor& known = kept[weight.const_data_ptr()];
  if (!known.defined()) known = weight.t().contiguous();
  return known;
})",
          .right = R"(at::Tensor packed(const at::Tensor& weight) {
  return weight.t().contiguous();  // from what the weight holds now
})"},
     .worker = Worker::native,
     .scope = {.variants = Scope::Variants::contiguous, .dtypes = Scope::Dtypes::first},
     .judge = &judge});

}  // namespace
}  // namespace opgate::memory_lifetime
