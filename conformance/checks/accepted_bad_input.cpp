#include "checks/accepted_bad_input.h"

#include <fmt/format.h>

#include <set>

#include "checks/memory.h"
#include "checks/outputs.h"
#include "compare/float_format.h"
#include "layouts/geometry.h"

namespace opgate {
namespace {

using Kind = BadInput::Kind;

// Units in the last place of the largest value of the result.
constexpr double kRoundingUlps = 16;

std::string shapes_text(const Arguments& arguments) {
  std::string text;
  for (const TensorInput& input : arguments.tensors)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", input.name, index_text(input.geometry.sizes));
  return text;
}

bool differ_by_rounding(const at::Tensor& got, const at::Tensor& want) {
  const auto format = float_format(got.scalar_type());
  if (!format || got.is_complex() != want.is_complex() || got.sizes() != want.sizes()) return false;
  if (got.numel() == 0) return true;
  const c10::ScalarType wide = got.is_complex() ? c10::kComplexDouble : c10::kDouble;
  const at::Tensor theirs = want.to(got.device(), got.scalar_type()).to(wide);  // as far as the dtype reaches
  const at::Tensor mine = got.to(wide);
  const at::Tensor size = theirs.abs();
  const at::Tensor finite = size.isfinite();
  const double largest = size.masked_fill(finite.logical_not(), 0).max().item<double>();
  const at::Tensor near = mine.sub(theirs).abs().le(kRoundingUlps * ulp_at(largest, *format));
  const at::Tensor alike = mine.eq(theirs).logical_or(mine.isnan().logical_and(theirs.isnan()));
  return near.logical_or(alike).all().item<bool>();
}

bool differ_by_rounding(const std::vector<at::Tensor>& got, const std::vector<at::Tensor>& want,
                        const std::set<size_t>& unspecified) {
  if (got.size() != want.size()) return false;
  for (size_t i = 0; i < got.size(); ++i) {
    const bool same =
        got[i].scalar_type() == want[i].scalar_type() && !judge_values({got[i]}, {want[i]}, {}).finding;
    if (!same && !unspecified.contains(i) && !differ_by_rounding(got[i], want[i])) return false;
  }
  return true;
}

Judgement judge_against(const Outcome& reference, const Outcome& call, const Spec& spec,
                        const std::string& promised, const std::set<size_t>& unspecified) {
  const std::vector<at::Tensor> expected = expected_values(reference, call);
  Judgement judgement =
      judge_values(call.values(), expected, {promised, *spec.accuracy, Rounding::to_output, unspecified});
  if (judgement.finding && differ_by_rounding(call.values(), expected, unspecified)) return Judgement::pass();
  return judgement;
}

// What the operator gets wrong on the sample as it is written is value.reference's to say.
bool is_wrong_undamaged(Evidence& evidence, const Outcome& good) {
  CallKey key = evidence.key();
  key.variant = kContiguous;
  Evidence undamaged(key, evidence.bench());
  const Outcome& reference = undamaged.reference();
  return reference.ok() &&
         judge_against(reference, good, *key.spec, "", key.spec->unspecified).finding.has_value();
}

Judgement judge_memory(Evidence& evidence, const std::string& promised) {
  for (const PoisonedMemory kind : {PoisonedMemory::outside, PoisonedMemory::fresh}) {
    const Judgement judgement = judge_poison(evidence, kind, promised);
    if (judgement.verdict != Verdict::pass) return judgement;
  }
  return Judgement::pass();
}

}  // namespace

Judgement judge_accepted(Evidence& evidence, const BadInput& bad, const Outcome& good) {
  const CallKey& key = evidence.key();
  const Outcome& call = evidence.observed().outcome;
  const std::string what = describe_bad_input(bad.text);
  if (key.spec->reference == nullptr) {
    return judge_memory(evidence,
                        fmt::format("where {}, an exception is raised, or the result follows from the "
                                    "arguments alone",
                                    what));
  }
  const Outcome& reference = evidence.reference();
  if (!reference.ok()) {
    // An index in another integer type is the same index: to take it is more than was asked for, and not
    // less.
    const bool same_integers =
        bad.kind == Kind::dtype && (bad.given == "int32" || bad.given == "int64") &&
        !judge_values(call.values(), good.values(), {.unspecified = key.spec->unspecified}).finding;
    if (same_integers) return Judgement::pass();
    return Judgement::fail(
        {fmt::format("where {}, an exception is raised", what),
         fmt::format("something is returned for {}, where the reference raises: {}",
                     shapes_text(evidence.observed().arguments), reference.raised->message),
         fmt::format("the kernel has no check of `{}`: TORCH_CHECK it before anything is computed; if "
                     "callers answer for its values, spec.trusts(\"{}\")",
                     bad.argument, argument_name(*key.spec, bad.position)),
         {}});
  }
  const std::string promised =
      fmt::format("where {}, an exception is raised, or the result is the reference's, which takes it", what);
  const bool only_shapes = bad.kind == Kind::special || bad.kind == Kind::number;
  std::set<size_t> unspecified = key.spec->unspecified;
  for (size_t i = 0; only_shapes && i < call.values().size(); ++i) unspecified.insert(i);
  const Judgement judgement = judge_against(reference, call, *key.spec, promised, unspecified);
  const bool said_already = judgement.finding && is_wrong_undamaged(evidence, good);
  if (judgement.verdict != Verdict::pass && !said_already) return judgement;
  return judge_memory(evidence, promised);
}

}  // namespace opgate
