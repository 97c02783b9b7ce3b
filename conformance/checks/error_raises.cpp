// error.raises: a bad input raises an exception that names what is wrong, and leaves everything as it was.
//
// What the spec says must be rejected must raise and say why. Of an input that the engine damaged by itself
// nobody knows beforehand that it is bad: broadcasting is legal, so is an eps of 0. There the reference
// decides, on the same damaged input: the operator may raise, with a clear message, or return what the
// reference returns. Of a draft without a reference it is only known that what it returns must not come from
// outside of its arguments.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "call/bad_inputs.h"
#include "checks/accepted_bad_input.h"
#include "checks/check.h"
#include "checks/clear_message.h"
#include "checks/memory.h"
#include "checks/outputs.h"
#include "layouts/geometry.h"

namespace opgate::error_raises {
namespace {

bool contains(std::string text, std::string part) {
  const auto lower = [](std::string& s) {
    std::ranges::transform(s, s.begin(), [](unsigned char c) { return std::tolower(c); });
  };
  lower(text);
  lower(part);
  return text.find(part) != std::string::npos;
}

Judgement judge_rejection(const Rejection& rejection, const Outcome& call) {
  const std::string promised =
      fmt::format("`{}` raises{} ({})", rejection.sample.name,
                  rejection.because.empty() ? "" : fmt::format(", and says \"{}\"", rejection.because),
                  rejection.sample.where);
  if (call.ok()) {
    return Judgement::fail(
        {promised, "it is accepted, and something is returned", "the kernel has no check of it", {}});
  }
  const std::string& message = call.raised->message;
  if (const auto useless = useless_message(message))
    return Judgement::fail({promised, "raised: " + message, *useless, {}});
  if (contains(message, rejection.because)) return Judgement::pass();
  return Judgement::fail({promised, "raised: " + message, "another check refuses it first", {}});
}

Judgement judge_message(const BadInput& bad, const CallKey& key, const Observation& call) {
  const std::string& message = call.outcome.raised->message;
  if (key.spec->draft) return Judgement::pass();  // words are for when the spec is written
  const std::string promised =
      fmt::format("where {}, an exception names what is wrong", describe_bad_input(bad.text));
  if (const auto useless = useless_message(message))
    return Judgement::fail({promised, "raised: " + message, *useless, {}});
  if (names_what_is_wrong(message, bad, key, call.arguments)) return Judgement::pass();
  return Judgement::fail(
      {promised,
       "raised: " + message,
       fmt::format("say which argument, and what was given: \"{} must ..., got \"", bad.argument),
       {}});
}

// That an index is out of range is found when the kernel comes to it; what it has written by then into an
// argument that is its to write is no finding (aten::scatter_add_ does so). Everything else can be known
// before the first write.
bool may_have_written(const Spec& spec, const TensorInput& input, const Outcome& call) {
  if (!is_mutable(spec, input.position)) return false;
  return call.ok() || contains(call.raised->message, "out of range") ||
         contains(call.raised->message, "out of bounds");
}

std::optional<Finding> written_input(const Spec& spec, const Observation& call) {
  const std::string promised = "inputs are as they were, bit for bit, after an exception";
  for (const TensorInput& input : call.arguments.tensors) {
    if (may_have_written(spec, input, call.outcome)) continue;
    const at::Tensor& x = input.tensor;
    if (x.sizes() != input.geometry.sizes || x.strides() != input.geometry.strides) {
      return Finding{promised,
                     fmt::format("`{}` has shape {} after the call, not {}", input.name,
                                 index_text(x.sizes()), index_text(input.geometry.sizes)),
                     "it is resized before the arguments are checked",
                     {}};
    }
    if (unchanged(x, input.before)) continue;
    const StorageImage after = storage_image(x);
    const auto [was, is] = std::ranges::mismatch(input.before, after);
    const auto element = (was - input.before.begin()) / static_cast<std::ptrdiff_t>(x.element_size());
    return Finding{promised,
                   fmt::format("`{}` was written, the first in {}{}", input.name,
                               describe_element(input.geometry, element, input.name),
                               call.outcome.ok() ? "" : "; then it raised: " + call.outcome.raised->message),
                   "all arguments are to be checked before the first write",
                   {}};
  }
  return std::nullopt;
}

Judgement judge_next_call(const CallKey& key, Workbench& bench, const Outcome& good) {
  const std::string promised = "the next good call works, and gives what it gave before the bad one";
  const Outcome next = observe(key, bench.values, {.photographed = false}).outcome;
  const std::string likely = "the bad call left something behind: a lock, a cache, a half-built workspace";
  if (!next.ok())
    return Judgement::fail({promised, "the sample itself now raises: " + next.raised->message, likely, {}});
  Judgement same = key.spec->reference == nullptr
                       ? judge_near_each_other(*key.spec, next, good, promised)
                       : judge_values(next.values(), good.values(),
                                      {promised, *key.spec->accuracy, Rounding::none, key.spec->unspecified});
  if (same.finding) same.finding->likely = likely;
  return same;
}

Judgement judge(Evidence& evidence) {
  const CallKey& key = evidence.key();
  const Spec& spec = *key.spec;
  const Rejection* rejection = spec.find_rejection(*key.sample);
  CallKey good_key = key;
  good_key.variant = kContiguous;
  if (rejection != nullptr) good_key.sample = &spec.samples.front();
  const Outcome good = observe(good_key, evidence.bench().values, {.photographed = false}).outcome;
  if (!good.ok()) return refusal_of_sample(good_key, good);

  const Observation& call = evidence.observed();
  if (!call.damage.empty()) return Judgement::fail(describe_damage(call.damage.front(), call.arguments));
  std::optional<BadInput> bad;
  if (rejection == nullptr) bad = find_bad_input(key);
  Judgement answer = rejection != nullptr ? judge_rejection(*rejection, call.outcome)
                     : call.outcome.ok()  ? judge_accepted(evidence, *bad, good)
                                          : judge_message(*bad, key, call);
  if (answer.verdict != Verdict::pass) return answer;
  if (!call.state_changes.empty()) {
    return Judgement::fail(
        {"the process and thread are as they were after an exception", call.state_changes.front(),
         "a setting is undone at the end of the function, which an exception skips: use a guard",
         call.state_changes});
  }
  if (auto finding = written_input(spec, call)) return Judgement::fail(*std::move(finding));
  return judge_next_call(good_key, evidence.bench(), good);
}

OPGATE_REGISTER_CHECK(
    error_raises,
    {.name = "error.raises",
     .explanation =
         {.promise = "A bad input raises an exception that names what is wrong; inputs are unchanged and the "
                     "next good call works.",
          .why = "A caller who passes a weight of the wrong length finds out from the message, or from a "
                 "crash in production, or never. Each argument of each sample is damaged: another rank, "
                 "size, dtype, device, an undefined tensor, an index out of range, NaN and infinity, numbers "
                 "that are 0, -1, NaN, infinite or 2^62, lists of another length. The operator may refuse "
                 "such a call, or do with it what the reference does. What the spec rejects it must refuse.",
          .fix = "Check everything before the first allocation and the first write. Name the argument and "
                 "show what was given. Where callers answer for the values of an argument, "
                 "spec.trusts(\"indices\").",
          .example = "vision 1957, 4828: pooling and alignment kernels that read outside of the image, or "
                     "divide by zero, for boxes and sizes that nobody checked.",
          .wrong = R"(for (int64_t row = 0; row < x.size(0); ++row)
  for (int64_t i = 0; i < x.size(1); ++i)
    to[row][i] = from[row][i] * factors[i];  // whether weight has as many, nobody asked)",
          .right =
              R"(TORCH_CHECK(weight.dim() == 1 && weight.size(0) == x.size(1),
            "weight must have ", x.size(1), " elements, got ", weight.sizes());
for (int64_t row = 0; row < x.size(0); ++row)
  for (int64_t i = 0; i < x.size(1); ++i) to[row][i] = from[row][i] * factors[i];)"},
     .worker = Worker::native,
     .scope = {.variants = Scope::Variants::bad, .dtypes = Scope::Dtypes::first},
     .judge = &judge});

}  // namespace
}  // namespace opgate::error_raises
