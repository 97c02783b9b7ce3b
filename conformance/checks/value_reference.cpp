// value.reference: values equal a trusted reference within the promised ulps.
#include "judging/check.h"
#include "judging/comparison/output_judgement.h"
#include "judging/fault.h"

namespace opgate::value_reference {
namespace {

Judgement judge(CallUnderTest& under_test) {
  Judgement judgement = judge_against_reference(under_test);
  if (judgement.finding) judgement.finding->fault.kind = fault::kValues;
  return judgement;
}

OPGATE_REGISTER_CHECK(value_reference, {.name = "value.reference",
                                        .scope = {.variants = Scope::Variants::contiguous, .reference = true},
                                        .quick = true,
                                        .explores = true,
                                        .judge = &judge});

}  // namespace
}  // namespace opgate::value_reference
