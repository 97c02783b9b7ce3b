// value.layout: the same values whatever the layout of each argument.
#include <fmt/format.h>

#include "base/text.h"
#include "inputs/variant_text.h"
#include "judging/causes/layout_diagnosis.h"
#include "judging/causes/refused_layout.h"
#include "judging/check.h"
#include "judging/comparison/output_judgement.h"
#include "judging/fault.h"
#include "spec/recordings.h"
#include "spec/spec.h"

namespace opgate::value_layout {
namespace {

// True if the operator may refuse the call: it names the lazy view (conj or neg bit) that it got, or an
// argument that the spec says must be contiguous.
bool refuses_as_promised(CallUnderTest& under_test) {
  const Observation& call = under_test.observed();
  const std::string& message = call.outcome.raised->message;
  for (const TensorInput& input : call.arguments.tensors) {
    const bool is_lazy = input.tensor.is_conj() || input.tensor.is_neg();
    if (is_lazy && (contains_ignoring_case(message, "conj") || contains_ignoring_case(message, "neg")))
      return true;
    const std::string name = argument_name(*under_test.key().spec, input.position);
    if (under_test.key().spec->wants_contiguous.contains(name) && !input.tensor.is_contiguous() &&
        message.find(name) != std::string::npos)
      return true;
  }
  return false;
}

// Some layouts give other values than the sample's: `expanded` repeats the first slice, which makes a matrix
// singular.
bool takes_the_sample(CallUnderTest& under_test) {
  CallKey key = under_test.key();
  key.variant = kContiguous;
  return observe(key, under_test.cache().values, {.take_snapshots = false}).outcome.ok();
}

bool is_wrong(CallUnderTest& under_test, const Outcome& call) {
  return under_test.key().spec->reference != nullptr && under_test.reference().ok() &&
         judge_near_reference(under_test, call, "").finding;
}

Judgement judge(CallUnderTest& under_test) {
  const Outcome& call = under_test.observed().outcome;
  const Outcome& dense = under_test.dense().outcome;
  if (!dense.ok() && takes_the_sample(under_test)) {
    return Judgement::note(
        fmt::format("the operator refuses the values that this layout gives, also if they are contiguous: {}",
                    first_line(dense.raised->message)));
  }
  const CallKey& key = under_test.key();
  const bool replaces = key.spec->replaces_kernel();
  if (!dense.ok() && (replaces || has_other_values_than_recorded(*key.spec, *key.sample)))
    return refusal_of_sample(key, dense, under_test.cache().values);
  if (!dense.ok()) {
    return Judgement::invalid(
        fmt::format("{}: the operator refuses the same values laid out contiguously: {}",
                    under_test.key().sample->where, dense.raised->message));
  }
  const std::string_view varied = varied_argument(under_test.key().variant);
  const std::string promised = varied.empty()
                                   ? fmt::format("the same result as for contiguous input, when {}",
                                                 describe_variant(under_test.key().variant))
                                   : fmt::format("the same result whatever the layout of `{}`", varied);
  const Fault fault{fault::kLayout, std::string(arrangement_of(under_test.key().variant).arguments)};
  if (!call.ok()) {
    if (replaces)
      return refusal_beside_torch(key, call, under_test.cache().values).value_or(Judgement::pass());
    if (refuses_as_promised(under_test)) return Judgement::pass();
    if (auto note = note_of_refused_layout(*under_test.key().spec, *call.raised)) return *std::move(note);
    return Judgement::fail({promised, "raised: " + call.raised->message,
                            "contiguous input of the same values is accepted; call .contiguous() in the "
                            "operator, or read through the strides",
                            fault});
  }
  Judgement judgement =
      judge_same(under_test, call, dense, under_test.key().spec->same_bits_in_any_layout(), promised);
  if (judgement.finding) {
    const LayoutDiagnosis diagnosis = diagnose_layout(under_test);
    judgement.finding->likely = diagnosis.cause;
    judgement.stack = diagnosis.read_in;
    judgement.finding->fault.kind = fault.kind;
    judgement.finding->fault.about = fault.about;
    if (diagnosis.imitated || diagnosis.kept) judgement.finding->fault.cause = diagnosis.mistake;
    if (diagnosis.kept) {
      judgement.finding->fault.kind = fault::kKept;
    } else if (!diagnosis.imitated && is_wrong(under_test, dense)) {
      judgement.finding->likely = "the result for contiguous input is wrong, too";
      judgement.finding->fault = {fault::kValues, "", judgement.finding->fault.differs};
    }
  }
  return judgement;
}

OPGATE_REGISTER_CHECK(value_layout, {.name = "value.layout",
                                     .scope = {.variants = Scope::Variants::rearranged},
                                     .quick = true,
                                     .explores = true,
                                     .judge = &judge});

}  // namespace
}  // namespace opgate::value_layout
