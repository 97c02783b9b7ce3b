#include "judging/refusals/accepted_bad_input.h"

#include <fmt/format.h>

#include <set>

#include "base/text.h"
#include "compare/float_format.h"
#include "compare/widen.h"
#include "judging/comparison/memory_judgement.h"
#include "judging/comparison/output_judgement.h"
#include "judging/fault.h"
#include "layouts/geometry.h"
#include "spec/spec.h"
#include "spec/specs.h"

namespace opgate {
namespace {

using Kind = BadInput::Kind;

// What counts as rounding, in ulps of the largest value of the result.
constexpr double kRoundingUlps = 16;

// The accuracy that a spec promises holds for its own groups. One that gets the elements of an emptied one
// has a longer sum.
constexpr double kShareOfFullerGroups = 1e-2;

std::string shapes_text(const Arguments& arguments) {
  std::string text;
  for (const TensorInput& input : arguments.tensors)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", input.name, index_text(input.geometry.sizes));
  return text;
}

bool differ_by_rounding(const at::Tensor& got, const at::Tensor& want, const Accuracy& accuracy,
                        double share) {
  const auto format = format_of_ulps(got.scalar_type(), accuracy);
  if (!format || got.is_complex() != want.is_complex() || got.sizes() != want.sizes()) return false;
  if (got.numel() == 0) return true;
  const c10::ScalarType wide = wide_dtype(got);
  const at::Tensor theirs = want.to(got.device(), got.scalar_type()).to(wide);  // overflows as `got` would
  const at::Tensor mine = got.to(wide);
  const double largest = largest_magnitude(theirs).item<double>();
  const at::Tensor near =
      mine.sub(theirs).abs().le(std::max(kRoundingUlps * ulp_at(largest, *format), share * largest));
  const at::Tensor alike = mine.eq(theirs).logical_or(mine.isnan().logical_and(theirs.isnan()));
  return near.logical_or(alike).all().item<bool>();
}

bool differ_by_rounding(const std::vector<at::Tensor>& got, const std::vector<at::Tensor>& want,
                        const std::set<size_t>& unspecified, const Accuracy& accuracy, double share) {
  if (got.size() != want.size()) return false;
  for (size_t i = 0; i < got.size(); ++i) {
    const bool same =
        got[i].scalar_type() == want[i].scalar_type() && !judge_values({got[i]}, {want[i]}, {}).finding;
    if (!same && !unspecified.contains(i) && !differ_by_rounding(got[i], want[i], accuracy, share))
      return false;
  }
  return true;
}

// The accuracy of a call whose arguments have several dtypes: in ulps of the least precise one, which its
// values have gone through.
Accuracy accuracy_among(const Arguments& arguments, Accuracy accuracy) {
  for (const TensorInput& input : arguments.tensors) {
    const auto format = float_format(input.tensor.scalar_type());
    const auto least = accuracy.dtype ? float_format(*accuracy.dtype) : std::nullopt;
    if (format && (!least || format->precision < least->precision))
      accuracy.dtype = input.tensor.scalar_type();
  }
  return accuracy;
}

// Without a flag, a result may not be asked for: the operator may return it all the same, and so may the
// reference.
void leave_out_what_one_lacks(std::vector<at::Tensor>& got, std::vector<at::Tensor>& want) {
  for (size_t i = 0; i < std::min(got.size(), want.size()); ++i) {
    if (got[i].defined() != want[i].defined()) got[i] = want[i] = at::Tensor();
  }
}

struct Leniency {
  double share = 0;            ///< of the largest element
  bool may_leave_out = false;  ///< a result may be there or not
};

Judgement judge_against(const Outcome& reference, const Outcome& call, const Accuracy& accuracy,
                        const std::string& promised, const std::set<size_t>& unspecified,
                        const Leniency& leniency = {}) {
  std::vector<at::Tensor> got = call.values(), expected = expected_values(reference, call);
  if (leniency.may_leave_out) leave_out_what_one_lacks(got, expected);
  Judgement judgement =
      judge_values(got, expected, {accuracy, Rounding::to_output, unspecified, {}}, promised);
  if (judgement.finding && differ_by_rounding(got, expected, unspecified, accuracy, leniency.share))
    return Judgement::pass();
  return judgement;
}

// Whether the results are as near as the spec promises at the magnitudes of the terms: a sum whose terms
// cancel is far from the reference in ulps of its own.
bool is_near_at_scale(CallUnderTest& under_test, const Outcome& call) {
  const Spec& spec = *under_test.key().spec;
  if (!spec.accuracy->by_inputs || spec.scale || !under_test.scales({}).ok()) return false;
  return !judge_near_reference(under_test, call, "").finding;
}

// True if the operator is already wrong on the undamaged sample, which value.reference reports.
bool is_wrong_undamaged(CallUnderTest& under_test, const Outcome& good) {
  CallKey key = under_test.key();
  key.variant = kContiguous;
  CallUnderTest undamaged(key, under_test.cache());
  const Outcome& reference = undamaged.reference();
  return reference.ok() && judge_against(reference, good, key.spec->accuracy_for(key.dtype), "",
                                         good.tensors_of(key.spec->unspecified))
                               .finding.has_value();
}

c10::IValue in_dtype_of(const c10::IValue& value, const c10::IValue& meant) {
  if (!value.isTensor() || !meant.isTensor() || !value.toTensor().defined() || !meant.toTensor().defined())
    return value;
  return value.toTensor().to(meant.toTensor().scalar_type());
}

// Whether an operator that is compared with itself returns the same for these values in the dtypes that it is
// meant for. In Double it may use other constants, as torch.finfo(dtype).eps is one.
bool is_the_same_in_usual_dtypes(CallUnderTest& under_test, const Outcome& call) {
  const CallKey& key = under_test.key();
  if (!is_compared_with_itself(*key.spec)) return false;
  CallKey usual = key;
  usual.variant = kContiguous;
  ValueCache values;
  torch::jit::Stack stack = materialize(key, values, {.take_snapshots = false}).stack;
  const torch::jit::Stack meant = materialize(usual, values, {.take_snapshots = false}).stack;
  for (size_t i = 0; i < stack.size(); ++i) stack[i] = in_dtype_of(stack[i], meant[i]);
  const Outcome own = call_on(key, stack);
  return own.ok() && differ_by_rounding(call.values(), own.values(), call.tensors_of(key.spec->unspecified),
                                        key.spec->accuracy_for(key.dtype), 0);
}

Judgement judge_memory(CallUnderTest& under_test, const std::string& promised) {
  for (const PoisonedMemory kind : {PoisonedMemory::outside, PoisonedMemory::fresh}) {
    const Judgement judgement = judge_poison(under_test, kind, promised);
    if (judgement.verdict != Verdict::pass) return judgement;
  }
  return Judgement::pass();
}

}  // namespace

Judgement judge_accepted(CallUnderTest& under_test, const BadInput& bad, const Outcome& good) {
  const CallKey& key = under_test.key();
  const Outcome& call = under_test.observed().outcome;
  const std::string what = in_words(bad.damage);
  const std::string promised_of_memory =
      fmt::format("where {}, an exception is raised, or the result depends on the arguments alone", what);
  if (key.spec->reference == nullptr) return judge_memory(under_test, promised_of_memory);
  const Outcome& reference = under_test.reference();
  const bool may_be_right = bad.kind == Kind::group || bad.kind == Kind::absent;
  if (!reference.ok() && may_be_right) return Judgement::pass();  // nothing is known about the right result
  if (!reference.ok()) {
    // An index in another integer dtype is the same index, so the operator may take it even where the
    // reference does not.
    const bool same_integers =
        bad.kind == Kind::dtype && (bad.damage.value == "int32" || bad.damage.value == "int64") &&
        !judge_values(call.values(), good.values(), {.unspecified = good.tensors_of(key.spec->unspecified)})
             .finding;
    if (same_integers) return Judgement::pass();
    if (is_the_same_in_usual_dtypes(under_test, call)) return judge_memory(under_test, promised_of_memory);
    return Judgement::fail(
        {fmt::format("where {}, an exception is raised", what),
         fmt::format("a result is returned for {}, where the reference raises: {}",
                     shapes_text(under_test.observed().arguments), reference.raised->message),
         fmt::format("the kernel does not check `{}`; TORCH_CHECK it before anything is computed, or write "
                     "spec.trusts(\"{}\") if the caller is responsible for its values",
                     bad.damage.argument, argument_name(*key.spec, bad.position)),
         {fault::kUnchecked, first_line(reference.raised->message)}});
  }
  const std::string promised =
      fmt::format("where {}, an exception is raised, or the result is the reference's, which takes it", what);
  const bool only_shapes = bad.kind == Kind::special || bad.kind == Kind::number;
  std::set<size_t> unspecified = call.tensors_of(key.spec->unspecified);
  for (size_t i = 0; only_shapes && i < call.values().size(); ++i) unspecified.insert(i);
  Accuracy accuracy = key.spec->accuracy_for(key.dtype);
  if (bad.kind == Kind::dtype) accuracy = accuracy_among(under_test.observed().arguments, accuracy);
  const Judgement judgement =
      judge_against(reference, call, accuracy, promised, unspecified,
                    {.share = bad.kind == Kind::group && !accuracy.exact ? kShareOfFullerGroups : 0,
                     .may_leave_out = bad.kind == Kind::flag || bad.kind == Kind::list});
  const bool is_explained =
      judgement.finding && (is_near_at_scale(under_test, call) || is_wrong_undamaged(under_test, good) ||
                            is_the_same_in_usual_dtypes(under_test, call));
  if (judgement.verdict != Verdict::pass && !is_explained) return judgement;
  return judge_memory(under_test, promised);
}

}  // namespace opgate
